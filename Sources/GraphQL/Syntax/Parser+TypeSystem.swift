extension Parser {
  mutating func description() throws(Fault) -> Description? {
    guard token.kind == .string || token.kind == .blockString else { return nil }
    let start = token
    try advance()
    return Description(
      start.text, isBlock: start.kind == .blockString, location: location(from: start))
  }

  /// A type-system definition or extension (specification 3), at its keyword.
  mutating func typeSystemDefinition(
    isExtension: Bool, description: Description?, from start: Token
  ) throws(Fault) -> Definition {
    if isAt(keyword: "schema") {
      return .schema(try schema(isExtension: isExtension, description: description, from: start))
    }
    if isAt(keyword: "directive"), !isExtension {
      return .directive(try directiveDefinition(description: description, from: start))
    }
    return .type(
      try typeDefinition(isExtension: isExtension, description: description, from: start))
  }

  private mutating func schema(
    isExtension: Bool, description: Description?, from start: Token
  ) throws(Fault) -> SchemaDefinition {
    try expect(keyword: "schema")
    let directives = try directives(isConst: true)
    var types: [OperationTypeDefinition] = []
    if !isExtension || token.kind == .braceLeft {
      try open(.braceLeft)
      repeat { types.append(try operationType()) } while try !close(.braceRight)
    }
    if isExtension, directives.isEmpty, types.isEmpty { throw unexpected() }
    return SchemaDefinition(
      description: description, directives: directives, operationTypes: types,
      isExtension: isExtension, location: location(from: start))
  }

  private mutating func operationType() throws(Fault) -> OperationTypeDefinition {
    let start = token
    guard token.kind == .name, let operation = OperationType(rawValue: text(of: token)) else {
      throw unexpected()
    }
    try advance()
    try expect(.colon)
    let type = try name()
    return OperationTypeDefinition(
      operation: operation, type: type, location: location(from: start))
  }

  private mutating func typeDefinition(
    isExtension: Bool, description: Description?, from start: Token
  ) throws(Fault) -> TypeDefinition {
    guard token.kind == .name else { throw unexpected() }
    let kind = text(of: token)
    guard Self.typeKeywords.contains(kind) else { throw unexpected() }
    try advance()
    let name = try name()
    let isComposite = kind == "type" || kind == "interface"
    let interfaces = isComposite ? try implementedInterfaces() : []
    let directives = try directives(isConst: true)
    let body = try typeBody(kind, interfaces: interfaces)
    let definition = TypeDefinition(
      description: description, name: name, directives: directives, body: body,
      isExtension: isExtension, location: location(from: start))
    if isExtension, directives.isEmpty, definition.isEmpty { throw unexpected() }
    return definition
  }

  private static let typeKeywords: Set<String> = [
    "scalar", "type", "interface", "union", "enum", "input",
  ]

  private mutating func typeBody(
    _ keyword: String, interfaces: [Name]
  ) throws(Fault) -> TypeDefinition.Body {
    switch keyword {
    case "type": return .object(interfaces: interfaces, fields: try fieldDefinitions())
    case "interface": return .interface(interfaces: interfaces, fields: try fieldDefinitions())
    case "union": return .union(members: try unionMembers())
    case "enum": return .enum(values: try enumValues())
    case "input": return .inputObject(fields: try inputValues(.braceLeft, .braceRight))
    default: return .scalar
    }
  }
}

extension Parser {
  private mutating func implementedInterfaces() throws(Fault) -> [Name] {
    guard try skip(keyword: "implements") else { return [] }
    return try delimitedNames(by: .ampersand)
  }

  private mutating func unionMembers() throws(Fault) -> [Name] {
    guard try skip(.equals) else { return [] }
    return try delimitedNames(by: .pipe)
  }

  private mutating func delimitedNames(by delimiter: Token.Kind) throws(Fault) -> [Name] {
    _ = try skip(delimiter)
    var names: [Name] = []
    repeat { names.append(try name()) } while try skip(delimiter)
    return names
  }

  private mutating func fieldDefinitions() throws(Fault) -> [FieldDefinition] {
    guard token.kind == .braceLeft else { return [] }
    try open(.braceLeft)
    var fields: [FieldDefinition] = []
    repeat {
      let start = token
      let description = try description()
      let name = try name()
      let arguments = try inputValues(.parenLeft, .parenRight)
      try expect(.colon)
      let type = try typeReference()
      let directives = try directives(isConst: true)
      fields.append(
        FieldDefinition(
          description: description, name: name, arguments: arguments, type: type,
          directives: directives, location: location(from: start)))
    } while try !close(.braceRight)
    return fields
  }

  /// Parses arguments in parentheses, or input fields in braces; none without the opening bracket.
  private mutating func inputValues(
    _ opening: Token.Kind, _ closing: Token.Kind
  ) throws(Fault) -> [InputValueDefinition] {
    guard token.kind == opening else { return [] }
    try open(opening)
    var values: [InputValueDefinition] = []
    repeat {
      let start = token
      let description = try description()
      let name = try name()
      try expect(.colon)
      let type = try typeReference()
      let defaultValue = try skip(.equals) ? try value(isConst: true) : nil
      let directives = try directives(isConst: true)
      values.append(
        InputValueDefinition(
          description: description, name: name, type: type, defaultValue: defaultValue,
          directives: directives, location: location(from: start)))
    } while try !close(closing)
    return values
  }

  private mutating func enumValues() throws(Fault) -> [EnumValueDefinition] {
    guard token.kind == .braceLeft else { return [] }
    try open(.braceLeft)
    var values: [EnumValueDefinition] = []
    repeat {
      let start = token
      let description = try description()
      for reserved in ["true", "false", "null"] where isAt(keyword: reserved) {
        throw fault("\"\(reserved)\" is reserved and cannot be an enum value.", at: token)
      }
      let name = try name()
      let directives = try directives(isConst: true)
      values.append(
        EnumValueDefinition(
          description: description, name: name, directives: directives,
          location: location(from: start)))
    } while try !close(.braceRight)
    return values
  }

  private mutating func directiveDefinition(
    description: Description?, from start: Token
  ) throws(Fault) -> DirectiveDefinition {
    try expect(keyword: "directive")
    try expect(.at)
    let name = try name()
    let arguments = try inputValues(.parenLeft, .parenRight)
    let isRepeatable = try skip(keyword: "repeatable")
    try expect(keyword: "on")
    _ = try skip(.pipe)
    var locations: [DirectiveLocation] = []
    repeat {
      guard token.kind == .name, let place = DirectiveLocation(rawValue: text(of: token)) else {
        throw unexpected()
      }
      try advance()
      locations.append(place)
    } while try skip(.pipe)
    return DirectiveDefinition(
      description: description, name: name, arguments: arguments, isRepeatable: isRepeatable,
      locations: locations, location: location(from: start))
  }
}

extension TypeDefinition {
  /// Whether it has no fields, interfaces, members or values.
  fileprivate var isEmpty: Bool {
    fields.isEmpty && interfaces.isEmpty && members.isEmpty && enumValues.isEmpty
      && inputFields.isEmpty
  }
}
