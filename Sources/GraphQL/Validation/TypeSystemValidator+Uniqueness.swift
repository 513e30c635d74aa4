/// Names that must be unique.
extension TypeSystemValidator {
  mutating func validateUniqueness() {
    let types = document.definitions.compactMap { definition -> TypeDefinition? in
      if case .type(let type) = definition { type } else { nil }
    }
    let declared = types.filter { !$0.isExtension }.map(\.name)
    let directives = document.definitions.compactMap { definition -> DirectiveDefinition? in
      if case .directive(let directive) = definition { directive } else { nil }
    }
    reportRepeated(declared, .uniqueTypeNames) { "There can be only one type named \"\($0)\"." }
    reportRepeated(directives.map(\.name), .uniqueDirectiveNames) {
      "There can be only one directive named \"@\($0)\"."
    }
    reportExisting(declared, directives.map(\.name))
    for directive in directives {
      reportRepeatedArguments(directive.arguments, of: "@\(directive.name)")
    }
    for group in Dictionary(grouping: types, by: \.name.value).values { validateMembers(of: group) }
  }

  private mutating func reportExisting(_ types: [Name], _ directives: [Name]) {
    for name in types {
      let isOwned = base?.type(named: name.value) != nil && !BuiltIns.isBuiltIn(type: name.value)
      guard isOwned else { continue }
      report(
        .uniqueTypeNames,
        "Type \"\(name)\" already exists in the schema. It cannot be defined again.",
        [name.location])
    }
    for name in directives where base?.directive(named: name.value) != nil {
      if BuiltIns.isBuiltIn(directive: name.value) { continue }
      report(
        .uniqueDirectiveNames, "Directive \"@\(name)\" already exists in the schema.",
        [name.location])
    }
  }

  /// Checks the members of one type: of its definition and all its extensions.
  private mutating func validateMembers(of nodes: [TypeDefinition]) {
    let type = nodes[0].name.value
    let existing = base?.type(named: type)
    let values = nodes.flatMap(\.enumValues).map(\.name)
    let fields = nodes.flatMap(\.fields).map(\.name) + nodes.flatMap(\.inputFields).map(\.name)
    reportRepeated(values, .uniqueEnumValueNames) {
      "Enum value \"\(type).\($0)\" can only be defined once."
    }
    reportRepeated(fields, .uniqueFieldDefinitionNames) {
      "Field \"\(type).\($0)\" can only be defined once."
    }
    for name in values where existing?.values[name.value] != nil {
      report(
        .uniqueEnumValueNames, "Enum value \"\(type).\(name)\" already exists in the schema.",
        [name.location])
    }
    for name in fields
    where existing?.fields[name.value] != nil || existing?.inputFields[name.value] != nil {
      report(
        .uniqueFieldDefinitionNames, "Field \"\(type).\(name)\" already exists in the schema.",
        [name.location])
    }
    for field in nodes.flatMap(\.fields) {
      reportRepeatedArguments(field.arguments, of: "\(type).\(field.name)")
    }
  }

  private mutating func reportRepeatedArguments(
    _ arguments: [InputValueDefinition], of owner: String
  ) {
    reportRepeated(arguments.map(\.name), .uniqueArgumentDefinitionNames) {
      "Argument \"\(owner)(\($0):)\" can only be defined once."
    }
  }

  private mutating func reportRepeated(
    _ names: [Name], _ rule: Rule, _ message: (String) -> String
  ) {
    for (name, nodes) in names.repeated(by: \.value) {
      report(rule, message(name), nodes.map(\.location))
    }
  }
}
