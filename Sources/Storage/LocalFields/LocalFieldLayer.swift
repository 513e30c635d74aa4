import LosslessJSON
import Model

/// The local fields of an upstream type that one owner has, as a viewer sees them.
struct LocalFieldLayer: Sendable {
  let set: LocalFieldSet
  /// The scope of the owner's rows; nil if there are none.
  let scope: Int64?

  /// Returns the SQL of the value of an entity for which nothing was written: what its column would hold.
  func fallback(_ field: String) -> String {
    switch value(field) {
    case .null, .array, .object: return "NULL"
    case .bool(let flag): return flag ? "1" : "0"
    case .number(let number): return number.digits
    case .string(let text):
      // In hexadecimal: an SQL text ends at a NUL.
      let digits = text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      return "CAST(x'\(digits.joined())' AS TEXT)"
    }
  }

  /// Returns the SQL of the JSON type of the same value.
  func fallbackState(_ field: String) -> String {
    switch value(field) {
    case .null: "'null'"
    case .array: "'array'"
    case .object: "'object'"
    case .bool(let flag): flag ? "'true'" : "'false'"
    case .number: "'integer'"
    case .string: "'text'"
    }
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
