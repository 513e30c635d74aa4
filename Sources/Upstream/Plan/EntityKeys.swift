import GraphQL
import LosslessJSON
import Model

/// The object types that are entities, and their keys.
struct EntityKeys: Sendable {
  /// By name in the schema.
  private let rules: [String: EntityKeyRule]
  /// By the name that a type is stored under.
  private let stored: [String: EntityKeyRule]
  /// Rules of types that only other upstreams store, by the name that they are stored under.
  private let foreign: [String: EntityKeyRule]

  init(_ rules: [String: EntityKeyRule], foreign: [String: EntityKeyRule] = [:]) {
    self.rules = rules
    self.foreign = foreign
    stored = Dictionary(
      rules.values.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The rule of a type of the schema.
  subscript(type: String) -> EntityKeyRule? { rules[type] }

  /// The rule of a type by the name that it is stored under, of any upstream.
  func rule(stored name: String) -> EntityKeyRule? { stored[name] ?? foreign[name] }

  /// The rules of the schema's types, by the name that they are stored under.
  var storedRules: [String: EntityKeyRule] { stored }

  /// The keys with the types of other upstreams.
  func adding(foreign: [String: EntityKeyRule]) -> EntityKeys {
    EntityKeys(rules, foreign: foreign)
  }

  /// The key formed by a field's arguments, if the field looks up one object by key: it returns an
  /// object type, and its arguments are exactly the key's fields by name and kind.
  func lookup(
    _ field: SchemaField, type: NamedType, given: [Argument]
  ) -> EntityKeyRule? {
    guard type.kind == .object, field.type.item == nil, let rule = rules[type.name] else {
      return nil
    }
    let names = Set(given.map(\.name.value))
    guard names == Set(rule.parts.map(\.field)) else { return nil }
    let agrees = rule.parts.allSatisfy { part in
      guard let argument = field.arguments[part.field], let own = type.fields[part.field] else {
        return false
      }
      return Self.isComparable(argument.type, own.type)
    }
    return agrees ? rule : nil
  }

  /// An id is often declared `String` on one side.
  static func isComparable(_ left: TypeReference, _ right: TypeReference) -> Bool {
    guard left.item == nil, right.item == nil else { return false }
    let texts: Set<String> = ["ID", "String"]
    let (left, right) = (left.name.value, right.name.value)
    return left == right || texts.contains(left) && texts.contains(right)
  }
}

/// The fields of an entity type's key, and their canonical form.
struct EntityKeyRule: Hashable {
  struct Part: Hashable {
    let field: String
    let canonical: KeyField.Canonical
  }

  /// The name that the type is stored under.
  let type: String
  /// In declared order, at least one.
  let parts: [Part]

  /// The entity that a value names: the value itself for a key of one field, otherwise an object
  /// with the key's fields. Nil if a part of the key is null, missing or not a leaf.
  func key(of value: JSONValue) -> EntityKey? {
    guard parts.count > 1 || value.members != nil else {
      return Self.text(of: value, parts[0].canonical).map { EntityKey(type: type, fields: [$0]) }
    }
    return key { value[$0] }
  }

  /// The entity with the given key field values.
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

  /// The canonical text of one key field; nil for values that cannot be keys, including text with
  /// NUL, which the store's keys cannot hold.
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
