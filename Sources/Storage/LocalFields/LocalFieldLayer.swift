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

  /// In hexadecimal: an SQL text ends at a NUL.
  private static func text(_ bytes: some Sequence<UInt8>) -> String {
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return "CAST(x'\(digits)' AS TEXT)"
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

  init(_ layers: [LocalFieldLayer]) {
    defaults =
      layers.isEmpty ? nil : JSONValue.object(layers.flatMap(\.set.defaults)).bytes
  }

  /// Returns the layers of an entity that the viewer sees.
  ///
  /// - Parameters:
  ///   - layers: those of upstream's data, narrowest first.
  ///   - own: the owners' rows.
  func adding(_ own: [[UInt8]], to layers: [[UInt8]]) -> [[UInt8]] {
    guard let defaults else { return layers }
    return layers + own + CollectionOfOne(defaults)
  }

  /// Returns the layers of an entity that upstream deleted, and that is shown for what its owners wrote.
  func kept(_ own: [[UInt8]]) -> [[UInt8]] {
    adding(own, to: []) + CollectionOfOne(Self.deleted)
  }
}
