import GraphQL
import Model

/// Checks that both sides of each relationship match, and that its delete rules can be applied.
struct LocalRelationshipChecker {
  let schema: LocalSchema
  let definitions: [String: TypeDefinition]
  private(set) var findings: [Finding] = []

  init(schema: LocalSchema, definitions: [String: TypeDefinition]) {
    self.schema = schema
    self.definitions = definitions
  }

  mutating func check() {
    let all = Array(schema.types.values) + schema.parts.values
    for type in all.sorted(by: { $0.name < $1.name }) {
      for field in type.fields { check(field, of: type) }
    }
    for (name, fields) in schema.objects {
      for field in fields { checkNoInverse(field, of: name) }
    }
  }

  private mutating func check(_ field: LocalField, of type: LocalType) {
    guard case .entity(let target, let inverse) = field.kind else {
      return checkNoInverse(field, of: type.name)
    }
    guard schema.types[target] != nil || !field.possibleTypes.isEmpty else {
      if let inverse { check(inverse, of: field, of: type, upstream: target) }
      return
    }
    if inverse == nil {
      let name = type.extended ?? type.name
      findings.append(
        Finding(
          .warning,
          "\(name).\(field.name) has no @inverse: deleting its \(target) does not update it.",
          at: location(type.name, field)))
    }
    for name in field.possibleTypes.isEmpty ? [target] : field.possibleTypes {
      if let other = schema.types[name] { check(field, inverse, of: type, with: other) }
    }
  }

  /// Checks a relationship with one of the types that it leads to.
  private mutating func check(
    _ field: LocalField, _ inverse: LocalField.Inverse?, of type: LocalType, with other: LocalType
  ) {
    let target = other.name
    let name = type.extended ?? type.name
    if other.scope != type.scope {
      fault(
        "\(name) belongs to a \(type.scope) and \(target) to a \(other.scope): "
          + "they cannot refer to each other.", type.name, field)
    }
    guard let inverse else { return }
    guard let back = other.field(inverse.field) else {
      return fault("\(target) has no field \(inverse.field).", type.name, field)
    }
    guard pairs(back, of: target, with: field, of: name, type.name) else { return }
    if type.extended == nil, inverse.onDelete == .nullify, back.isRequired, !back.isToMany {
      fault(
        "\(target).\(back.name) is non-null: with NULLIFY, a \(name) that has a \(target) "
          + "could not be deleted. Use CASCADE or DENY.", type.name, field)
    }
  }

  /// Checks a relationship to a type of upstream that has the inverse field among its local fields.
  private mutating func check(
    _ inverse: LocalField.Inverse, of field: LocalField, of type: LocalType, upstream target: String
  ) {
    guard type.extended == nil, let part = schema.part(of: target, owner: type.scope) else {
      let scope = "\(type.scope)".uppercased()
      return fault(
        "\(target) is an upstream type and cannot have the inverse field, unless the field is "
          + "added to it with @local(scope: \(scope)).", type.name, field)
    }
    guard let back = part.field(inverse.field) else {
      return fault(
        "\(target) has no local field \(inverse.field) of a \(type.scope).", type.name, field)
    }
    guard pairs(back, of: target, with: field, of: type.name, type.name) else { return }
    if inverse.onDelete == .cascade {
      fault(
        "\(type.name).\(field.name) cannot have onDelete: CASCADE: a \(target) is an entity of "
          + "upstream, which is not deleted here.", type.name, field)
    }
  }

  /// Reports a field that does not refer back.
  ///
  /// - Parameter row: the name under which the definition of `field` is known.
  private mutating func pairs(
    _ back: LocalField, of target: String, with field: LocalField, of type: String, _ row: String
  ) -> Bool {
    guard case .entity(let source, let named) = back.kind,
      source == type || back.possibleTypes.contains(type)
    else {
      fault("\(target).\(back.name) does not refer back to \(type).", row, field)
      return false
    }
    guard named?.field == field.name else {
      fault("\(target).\(back.name) needs @inverse(field: \"\(field.name)\").", row, field)
      return false
    }
    return true
  }

  private mutating func checkNoInverse(_ field: LocalField, of type: String) {
    let definition = definition(type, field)
    guard let directive = definition?.directives.directive(named: LocalDirectives.inverse),
      !field.isRelationship
    else { return }
    findings.append(
      Finding(.fault, "@inverse can only be applied to relationships.", at: directive.location))
  }

  private func definition(_ type: String, _ field: LocalField) -> FieldDefinition? {
    definitions[type]?.fields.first { $0.name.value == field.name }
  }

  private func location(_ type: String, _ field: LocalField) -> Location {
    let definition = definition(type, field)
    return definition?.directives.directive(named: LocalDirectives.inverse)?.location
      ?? definition?.name.location ?? .none
  }

  private mutating func fault(_ message: String, _ type: String, _ field: LocalField) {
    findings.append(Finding(.fault, message, at: location(type, field)))
  }
}
