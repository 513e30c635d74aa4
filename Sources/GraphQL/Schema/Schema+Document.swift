extension Schema {
  /// The schema in SDL, without the built-in definitions. A schema from introspection shows its
  /// deprecations, scalar URLs and one-of inputs as directives.
  package var sdl: String { Printer.print(document) }

  /// The schema as definitions, one for each type with its extensions merged in.
  package var document: Document {
    var definitions: [Definition] = []
    if let schema = schemaDefinition { definitions.append(.schema(schema)) }
    for directive in directives where !BuiltIns.isBuiltIn(directive: directive.name) {
      definitions.append(.directive(DirectiveDefinition(directive)))
    }
    for type in types where !BuiltIns.isBuiltIn(type: type.name) {
      definitions.append(.type(TypeDefinition(type)))
    }
    return Document(definitions: definitions)
  }

  /// Nil where the names of the types imply it.
  private var schemaDefinition: SchemaDefinition? {
    let roots = OperationType.allCases.compactMap { operation in
      rootName(for: operation).map {
        OperationTypeDefinition(operation: operation, type: Name($0))
      }
    }
    let isDefault = OperationType.allCases.allSatisfy { operation in
      let implied = types[operation.defaultTypeName] == nil ? nil : operation.defaultTypeName
      return rootName(for: operation) == implied
    }
    if roots.isEmpty || isDefault && description == nil && appliedDirectives.isEmpty { return nil }
    return SchemaDefinition(
      description: description.map { Description($0) }, directives: appliedDirectives,
      operationTypes: roots)
  }
}

extension TypeDefinition {
  init(_ type: NamedType) {
    let interfaces = type.interfaces.map { Name($0) }
    let fields = type.fields.map(FieldDefinition.init)
    let body: Body =
      switch type.kind {
      case .scalar: .scalar
      case .object: .object(interfaces: interfaces, fields: fields)
      case .interface: .interface(interfaces: interfaces, fields: fields)
      case .union: .union(members: type.members.map { Name($0) })
      case .enum: .enum(values: type.values.map(EnumValueDefinition.init))
      case .inputObject: .inputObject(fields: type.inputFields.map(InputValueDefinition.init))
      }
    self.init(
      description: type.description.map { Description($0) }, name: Name(type.name),
      directives: type.directives
        .adding("specifiedBy", "url", type.specifiedByURL)
        .adding(type.isOneOf ? "oneOf" : nil),
      body: body)
  }
}

extension FieldDefinition {
  init(_ field: SchemaField) {
    self.init(
      description: field.description.map { Description($0) }, name: Name(field.name),
      arguments: field.arguments.map(InputValueDefinition.init), type: field.type,
      directives: field.directives.adding("deprecated", "reason", field.deprecationReason))
  }
}

extension InputValueDefinition {
  init(_ value: InputValue) {
    self.init(
      description: value.description.map { Description($0) }, name: Name(value.name),
      type: value.type, defaultValue: value.defaultValue,
      directives: value.directives.adding("deprecated", "reason", value.deprecationReason))
  }
}

extension EnumValueDefinition {
  init(_ value: EnumValue) {
    self.init(
      description: value.description.map { Description($0) }, name: Name(value.name),
      directives: value.directives.adding("deprecated", "reason", value.deprecationReason))
  }
}

extension DirectiveDefinition {
  init(_ directive: SchemaDirective) {
    self.init(
      description: directive.description.map { Description($0) }, name: Name(directive.name),
      arguments: directive.arguments.map(InputValueDefinition.init),
      isRepeatable: directive.isRepeatable,
      locations: DirectiveLocation.allCases.filter(directive.locations.contains))
  }
}

extension [Directive] {
  /// Returns the directives with one more, unless it is present or its argument is nil.
  fileprivate func adding(_ name: String?, _ argument: String? = nil, _ text: String? = nil) -> Self
  {
    guard let name, directive(named: name) == nil else { return self }
    guard let argument else { return self + [Directive(name: Name(name))] }
    guard let text else { return self }
    let value = Value(.string(text, isBlock: false))
    return self + [
      Directive(name: Name(name), arguments: [Argument(name: Name(argument), value: value)])
    ]
  }
}
