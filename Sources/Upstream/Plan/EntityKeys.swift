import GraphQL
import Model

/// Which object types are entities, and what their keys are made of.
struct EntityKeys: Sendable {
  private let rules: [String: EntityKeyRule]

  init(_ rules: [EntityKeyRule]) {
    self.rules = Dictionary(rules.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
  }

  subscript(type: String) -> EntityKeyRule? { rules[type] }

  /// The key that a field's arguments make up, if the field looks up one object by key: an object
  /// type, and arguments that are the key's fields by name and kind, all of them and no others.
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
  private static func isComparable(_ left: TypeReference, _ right: TypeReference) -> Bool {
    guard left.item == nil, right.item == nil else { return false }
    let texts: Set<String> = ["ID", "String"]
    let (left, right) = (left.name.value, right.name.value)
    return left == right || texts.contains(left) && texts.contains(right)
  }
}
