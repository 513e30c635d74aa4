package import Filtering
import GRDB
import LosslessJSON
package import Model

/// Evaluates a condition on states of entities: on stored ones and on earlier ones, which are in no
/// table. The condition must be about their own fields (``FilterCondition/isOwn``); of others, see
/// ``ObservedStates``.
///
/// SQLite evaluates it, with the expressions and casts that the columns of collections have, so
/// that an observer and a collection with the same filter agree.
struct ConditionTest {
  private let condition: FilterCondition
  private let kinds: [String: EntityType.Column.Kind]
  private let fields: [String]
  /// To-many relationships, whose lists can be stored under several names.
  private let lists: [String]

  init(_ observed: ObservedCondition) {
    condition = observed.filter.condition
    kinds = Dictionary(
      observed.type.columns.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
    var fields: [String] = []
    var lists: [String] = []
    for path in condition.subjects.paths {
      if path.isList, !lists.contains(path.field) { lists.append(path.field) }
      if !path.isList, !fields.contains(path.field) { fields.append(path.field) }
    }
    for list in condition.subjects.scalars where !fields.contains(list.field) {
      fields.append(list.field)
    }
    self.fields = fields
    self.lists = lists
  }

  /// - Parameter states: the layers of each, narrowest first.
  /// - Returns: the indices of the states that meet the condition.
  func passing(_ states: [[[UInt8]]], _ database: Database) throws -> Set<Int> {
    guard !states.isEmpty else { return [] }
    var sql = BoundSQL()
    sql.append("SELECT state.key FROM json_each(")
    sql.append(.text(String(decoding: try json(of: states), as: UTF8.self)))
    sql.append(") AS state WHERE ")
    try FilterSQL(subjects: self).append(condition, to: &sql)
    let statement = try PreparedStatement(database, once: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    var passing: Set<Int> = []
    while try statement.step() { passing.insert(Int(statement.int64(0))) }
    return passing
  }

  /// Encodes, for each state, the fields that the condition names, each from the narrowest layer
  /// that has it.
  private func json(of states: [[[UInt8]]]) throws(StorageError) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for layers in states {
      var documents: [JSONDocument] = []
      do throws(JSONParseError) {
        for layer in layers { documents.append(try JSONDocument(checked: layer)) }
      } catch {
        throw .corrupt("a stored entity is not valid JSON: \(error)")
      }
      writer.beginObject()
      for field in fields {
        guard let value = documents.lazy.compactMap({ $0.root[field] }).first else { continue }
        writer.name(field)
        writer.value(value)
      }
      for list in lists {
        guard let members = StoredMembers(of: list, in: documents.map(\.root)) else { continue }
        writer.name(list)
        writer.raw(members.isNull ? "null" : "[]")
      }
      writer.endObject()
    }
    writer.endArray()
    return writer.bytes
  }

}

extension ConditionTest: FilterSubjects {
  func value(_ path: EntityPath) throws(StorageError) -> String {
    let field = try own(path)
    return switch kinds[field] {
    case .text: "CAST(json_extract(state.value, '$.\"\(field)\"') AS TEXT)"
    case .integer, .boolean: "CAST(json_extract(state.value, '$.\"\(field)\"') AS NUMERIC)"
    case .real: "CAST(json_extract(state.value, '$.\"\(field)\"') AS REAL)"
    case .reference:
      "json_extract(state.value, '$.\"\(field)\".\"\(StoredForm.referenceMember)\"[1]')"
    case nil:
      throw .failed(
        code: 0, message: "the condition names \(field), which is not a column of its type")
    }
  }

  func state(_ path: EntityPath) throws(StorageError) -> String {
    "json_type(state.value, '$.\"\(try own(path))\"')"
  }

  func hasColumn(_ path: EntityPath) throws(StorageError) -> Bool {
    let field = try own(path)
    return !path.isList && kinds[field] != nil
  }

  func scalars(_ list: ScalarsPath) throws(StorageError) -> String {
    "json_extract(state.value, '$.\"\(try own(list.path))\"')"
  }

  func append(countOf members: MemberPath, to sql: inout BoundSQL) throws {
    throw Self.related(members.field)
  }

  func append(
    anyOf members: MemberPath, _ condition: FilterCondition, isExact: Bool, to sql: inout BoundSQL
  ) throws {
    throw Self.related(members.field)
  }

  private func own(_ path: EntityPath) throws(StorageError) -> String {
    guard path.hops.isEmpty else { throw Self.related(path.description) }
    return path.field
  }

  private static func related(_ path: String) -> StorageError {
    .failed(code: 0, message: "the condition is about related entities: \(path)")
  }
}

/// The condition that a type's entities must meet to be reported to an observer.
package struct ObservedCondition: Hashable, Sendable {
  package let type: EntityType
  package let filter: Filter

  package init(type: EntityType, filter: Filter) {
    self.type = type
    self.filter = filter
  }
}
