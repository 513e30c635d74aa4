import LosslessJSON
import Model

/// What makes up the key of an entity type, and how a value becomes part of it.
struct EntityKeyRule: Hashable {
  struct Part: Hashable {
    let field: String
    let canonical: KeyField.Canonical
  }

  let type: String
  /// In declared order, at least one.
  let parts: [Part]

  /// The entity a value names: the value itself for a key of one field, else an object with the
  /// key's fields. Nil if something of the key is null, missing or no leaf.
  func key(of value: JSONValue) -> EntityKey? {
    guard parts.count > 1 || value.members != nil else {
      return Self.text(of: value, parts[0].canonical).map { EntityKey(type: type, fields: [$0]) }
    }
    return key { value[$0] }
  }

  /// The entity that named values make up.
  func key(_ valueOf: (String) -> JSONValue?) -> EntityKey? {
    var texts: [String] = []
    for part in parts {
      guard let text = valueOf(part.field).flatMap({ Self.text(of: $0, part.canonical) }) else {
        return nil
      }
      texts.append(text)
    }
    return EntityKey(type: type, fields: texts)
  }

  /// The canonical text of one key field; nil for what no key can be: also a text with NUL, which
  /// the store's keys cannot hold.
  static func text(of value: JSONValue, _ canonical: KeyField.Canonical) -> String? {
    switch (value, canonical) {
    case (.string(let text), _) where text.utf8.contains(0): nil
    case (.string(let text), .text): text
    case (.string(let text), .integer):
      JSONNumber(digits: text).flatMap(CanonicalNumber.integer)?.digits ?? text
    case (.number(let number), .text): number.digits
    case (.number(let number), .integer): CanonicalNumber.integer(number)?.digits ?? number.digits
    case (.bool(let flag), _): flag ? "true" : "false"
    case (.null, _), (.array, _), (.object, _): nil
    }
  }
}
