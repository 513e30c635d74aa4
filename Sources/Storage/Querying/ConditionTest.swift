package import Filtering
import GRDB
import LosslessJSON
package import Model

/// Evaluates a condition on states of entities: on stored ones and on earlier ones, which are in no
/// table.
///
/// SQLite evaluates it, with the expressions and casts that the columns of collections have, so
/// that an observer and a collection with the same filter agree.
struct ConditionTest {
  private let condition: FilterCondition
  private let kinds: [String: EntityType.Column.Kind]
  private let fields: [String]

  init(_ observed: ObservedCondition) {
    condition = observed.filter.condition
    kinds = Dictionary(
      observed.type.columns.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
    var fields: [String] = []
    condition.forEachColumn { if !fields.contains($0) { fields.append($0) } }
    self.fields = fields
  }

  /// - Parameter states: the layers of each, narrowest first.
  /// - Returns: the indices of the states that meet the condition.
  func passing(_ states: [[[UInt8]]], _ database: Database) throws -> Set<Int> {
    guard !states.isEmpty else { return [] }
    var sql = BoundSQL()
    sql.append("SELECT state.key FROM json_each(")
    sql.append(.text(String(decoding: try json(of: states), as: UTF8.self)))
    sql.append(") AS state WHERE ")
    try FilterSQL(column: column).append(condition, to: &sql)
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
      writer.endObject()
    }
    writer.endArray()
    return writer.bytes
  }

  private func column(_ field: String) throws(StorageError) -> String {
    switch kinds[field] {
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
