import LosslessJSON
import Model

/// The local fields of an upstream type that one owner has, as a viewer sees them.
struct LocalFieldLayer: Sendable {
  let set: LocalFieldSet
  /// The scope of the owner's rows; nil if there are none.
  let scope: Int64?

  /// A field of an entity for which nothing was written, as SQL.
  struct Fallback {
    /// What its column would hold.
    let value: String
    /// Its JSON type.
    let state: String
    /// The keys of a to-many relationship.
    let members = "'[]'"
    /// The values of a list of scalars, as a JSON array.
    var scalars = "NULL"
  }

  func fallback(_ field: String) -> Fallback {
    switch value(field) {
    case .null: Fallback(value: "NULL", state: "'null'")
    case .array: Fallback(value: "NULL", state: "'array'", scalars: Self.text(value(field).bytes))
    case .object: Fallback(value: "NULL", state: "'object'")
    // Casts, since ORDER BY takes a plain integer as the number of a column.
    case .bool(let flag):
      Fallback(value: "CAST(\(flag ? 1 : 0) AS INTEGER)", state: flag ? "'true'" : "'false'")
    case .number(let number):
      Fallback(value: "CAST(\(number.digits) AS NUMERIC)", state: "'integer'")
    case .string(let text): Fallback(value: Self.text(text.utf8), state: "'text'")
    }
  }

  /// Whether an entity for which nothing was written has a number, or a truth value as 0 or 1.
  func isDefault(_ number: Int64, of field: String) -> Bool {
    switch value(field) {
    case .bool(let flag): (flag ? 1 : 0) == number
    case .number(let known): known.digits == "\(number)"
    case .null, .string, .array, .object: false
    }
  }

  /// In hexadecimal: an SQL text ends at a NUL.
  private static func text(_ bytes: some Sequence<UInt8>) -> String {
    "CAST(x'\(Hexadecimal.encode(bytes))' AS TEXT)"
  }

  private func value(_ field: String) -> JSONValue {
    set.defaults.first { $0.name == field }?.value ?? .null
  }
}

/// What the local fields of a type add to an entity's layers.
struct LocalFieldTexts: Sendable {
  /// Marks an entity that upstream deleted.
  private static let deleted = JSONValue.object([
    JSONMember(StoredForm.deletedMember, .bool(true))
  ]).bytes

  /// The values of fields that were not written; nil if the viewer sees no local fields.
  private let defaults: [UInt8]?
  /// The names that show of each owner's rows: the key's and the owner's fields.
  private let names: [[String]]
  /// The fields of each owner with rows.
  private let fields: [[String]]
  /// The number of owners whose fields the viewer sees, those without rows included.
  private let ownerCount: Int

  /// What shows of an owner's row.
  struct Own: Sendable {
    let text: [UInt8]
    /// Whether it has all fields of its owner, so that no default of these shows.
    let isWhole: Bool
  }

  /// - Parameters:
  ///   - layers: what the viewer sees of the type.
  ///   - keyFields: the names of the key's fields.
  init(_ layers: [LocalFieldLayer] = [], keyFields: [String] = []) {
    defaults =
      layers.isEmpty ? nil : JSONValue.object(layers.flatMap(\.set.defaults)).bytes
    ownerCount = layers.count
    fields = layers.filter { $0.scope != nil }.map { $0.set.defaults.map(\.name) }
    names = fields.map { keyFields + $0 }
  }

  /// Returns what shows of an owner's row, which also keeps the values of fields that were removed, or that
  /// belong to another kind of owner now. A text that is not JSON stays as it is, for its reader to report.
  ///
  /// - Parameter owner: the owner's index among those with rows.
  func shown(_ row: [UInt8], ofOwner owner: Int) -> [UInt8] { own(row, ofOwner: owner).text }

  /// As ``shown(_:ofOwner:)``, and whether defaults show beside it.
  func own(_ row: [UInt8], ofOwner owner: Int) -> Own {
    let names = names[owner]
    guard let root = try? JSONDocument(checked: row).root else {
      return Own(text: row, isWhole: false)
    }
    let isWhole = fields[owner].allSatisfy { root[$0] != nil }
    let isShown = { (member: JSONNode.Member) in names.contains(where: member.isNamed) }
    if root.members.allSatisfy(isShown) { return Own(text: row, isWhole: isWhole) }
    var writer = JSONWriter()
    writer.beginObject()
    for member in root.members where isShown(member) {
      writer.name(member.nameNode)
      writer.raw(member.value)
    }
    writer.endObject()
    return Own(text: writer.bytes, isWhole: isWhole)
  }

  /// Returns the layers of an entity that the viewer sees.
  ///
  /// - Parameters:
  ///   - layers: those of upstream's data, narrowest first.
  ///   - own: what shows of the owners' rows.
  func adding(_ own: [[UInt8]], to layers: [[UInt8]]) -> [[UInt8]] {
    guard let defaults else { return layers }
    return layers + own + CollectionOfOne(defaults)
  }

  /// As the other, without the defaults if none of them shows.
  func adding(_ own: [Own], to layers: [[UInt8]]) -> [[UInt8]] {
    own.count == ownerCount && own.allSatisfy(\.isWhole)
      ? layers + own.map(\.text) : adding(own.map(\.text), to: layers)
  }

  /// Returns the layers of an entity that upstream deleted, and that is shown for what its owners wrote.
  func kept(_ own: [[UInt8]]) -> [[UInt8]] {
    adding(own, to: []) + CollectionOfOne(Self.deleted)
  }
}
