/// What an operation selects at one composite position, for every concrete type that may stand
/// there, with the request's variables already applied (`@skip`, `@include`, arguments).
///
/// The normaliser, the store's loader and the renderer walk the same value, so they cannot
/// disagree about which member of an answer is which stored field.
package final class Selection: Sendable {
  /// By concrete type. A position of an object type holds exactly one.
  package let types: [String: ObjectSelection]
  /// The only member of ``types`` where the position's type is an object type.
  package let single: ObjectSelection?
  /// The response name under which an answer tells the concrete type; nil where ``single`` says it.
  package let typenameResponseName: String?

  package init(types: [ObjectSelection], typenameResponseName: String?) {
    self.types = Dictionary(types.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
    single = typenameResponseName == nil ? types.first : nil
    self.typenameResponseName = typenameResponseName
  }
}

/// The fields selected on one concrete type, in the order of the operation's response.
package final class ObjectSelection: Sendable {
  package let type: String
  package let fields: [SelectedField]
  /// Where an answer holds the key's fields, in declared order; nil for an embedded (keyless)
  /// object.
  package let key: [KeyField]?

  package init(type: String, fields: [SelectedField], key: [KeyField]?) {
    self.type = type
    self.fields = fields
    self.key = key
  }
}

/// One field of a key in an answer.
package struct KeyField: Hashable, Sendable {
  package enum Canonical: Hashable, Sendable {
    /// `ID`, `String`, enums and custom scalars: a JSON string's content, or another value's text.
    case text
    /// `Int` and number scalars: digits without sign of plus or leading zeros.
    case integer
  }

  /// The schema name of the field.
  package let name: String
  package let responseName: String
  package let canonical: Canonical

  package init(name: String, responseName: String, canonical: Canonical) {
    self.name = name
    self.responseName = responseName
    self.canonical = canonical
  }
}
