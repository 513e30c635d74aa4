extension NamedType {
  /// Creates a type from its declaration, or from a base, with extensions of the same kind.
  convenience init(
    _ base: NamedType?, declaration: TypeDefinition? = nil, extendedBy extensions: [TypeDefinition]
  ) {
    let kind = base?.kind ?? declaration?.kind ?? .scalar
    let nodes = [declaration].compactMap { $0 } + extensions.filter { $0.kind == kind }
    let directives = (base?.directives ?? []) + nodes.flatMap(\.directives)
    self.init(
      kind: kind,
      name: base?.name ?? declaration?.name.value ?? "",
      description: base?.description ?? declaration?.description?.text,
      fields: NamedList(
        Array(base?.fields ?? NamedList()) + nodes.flatMap(\.fields).map(SchemaField.init)),
      interfaces: (base?.interfaces ?? []) + nodes.flatMap(\.interfaces).map(\.value),
      members: (base?.members ?? []) + nodes.flatMap(\.members).map(\.value),
      values: NamedList(
        Array(base?.values ?? NamedList()) + nodes.flatMap(\.enumValues).map(EnumValue.init)),
      inputFields: NamedList(
        Array(base?.inputFields ?? NamedList()) + nodes.flatMap(\.inputFields).map(InputValue.init)),
      isOneOf: base?.isOneOf ?? false || directives.directive(named: "oneOf") != nil,
      specifiedByURL: base?.specifiedByURL
        ?? directives.directive(named: "specifiedBy")?.argument(named: "url")?.stringText,
      directives: directives,
      location: base?.location ?? declaration?.name.location ?? .none)
  }
}

extension SchemaField {
  init(_ node: FieldDefinition) {
    self.init(
      name: node.name.value, description: node.description?.text,
      arguments: NamedList(node.arguments.map(InputValue.init)), type: node.type,
      deprecationReason: node.directives.deprecationReason, directives: node.directives,
      location: node.name.location)
  }
}

extension InputValue {
  init(_ node: InputValueDefinition) {
    self.init(
      name: node.name.value, description: node.description?.text, type: node.type,
      defaultValue: node.defaultValue, deprecationReason: node.directives.deprecationReason,
      directives: node.directives, location: node.name.location)
  }
}

extension EnumValue {
  init(_ node: EnumValueDefinition) {
    self.init(
      name: node.name.value, description: node.description?.text,
      deprecationReason: node.directives.deprecationReason, directives: node.directives,
      location: node.name.location)
  }
}

extension SchemaDirective {
  init(_ node: DirectiveDefinition) {
    self.init(
      name: node.name.value, description: node.description?.text,
      arguments: NamedList(node.arguments.map(InputValue.init)), isRepeatable: node.isRepeatable,
      locations: Set(node.locations), location: node.name.location)
  }
}

extension [Directive] {
  /// The reason of `@deprecated`, by default that of the specification; nil if not deprecated.
  var deprecationReason: String? {
    guard let directive = directive(named: "deprecated") else { return nil }
    return directive.argument(named: "reason")?.stringText ?? "No longer supported"
  }
}
