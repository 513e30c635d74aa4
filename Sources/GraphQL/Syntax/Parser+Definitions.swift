extension Parser {
  /// Parses a definition, with a description unless it is an extension or shorthand (specification of
  /// September 2025, 2.2 and 2.4).
  mutating func definition() throws(Fault) -> Definition {
    let start = token
    if token.kind == .braceLeft { return .operation(try operation()) }
    let description = try description()
    guard token.kind == .name else { throw unexpected() }
    let keyword = text(of: token)
    if description != nil, keyword == "extend" {
      throw fault("An extension cannot have a description.", at: start)
    }
    switch keyword {
    case "query", "mutation", "subscription":
      return .operation(try operation(description))
    case "fragment":
      return .fragment(try fragment(description))
    case "extend":
      try advance()
      return try typeSystemDefinition(isExtension: true, description: nil, from: start)
    default:
      return try typeSystemDefinition(isExtension: false, description: description, from: start)
    }
  }

  private mutating func operation(
    _ description: Description? = nil
  ) throws(Fault) -> OperationDefinition {
    let start = token
    if token.kind == .braceLeft {
      let selectionSet = try selectionSet()
      return OperationDefinition(
        operation: .query, selectionSet: selectionSet, location: location(from: start))
    }
    guard let type = OperationType(rawValue: text(of: token)) else { throw unexpected() }
    try advance()
    let name = token.kind == .name ? try name() : nil
    let variables = try variableDefinitions()
    let directives = try directives(isConst: false)
    let selectionSet = try selectionSet()
    return OperationDefinition(
      description: description, operation: type, name: name, variableDefinitions: variables,
      directives: directives,
      selectionSet: selectionSet, location: location(from: start))
  }

  private mutating func fragment(
    _ description: Description?
  ) throws(Fault) -> FragmentDefinition {
    let start = token
    try expect(keyword: "fragment")
    if isAt(keyword: "on") { throw unexpected() }
    let name = try name()
    try expect(keyword: "on")
    let condition = try self.name()
    let directives = try directives(isConst: false)
    let selectionSet = try selectionSet()
    return FragmentDefinition(
      description: description, name: name, typeCondition: condition, directives: directives,
      selectionSet: selectionSet,
      location: location(from: start))
  }

  private mutating func variableDefinitions() throws(Fault) -> [VariableDefinition] {
    guard token.kind == .parenLeft else { return [] }
    try open(.parenLeft)
    var definitions: [VariableDefinition] = []
    repeat {
      let description = try description()
      let start = token
      try expect(.dollar)
      let name = try name()
      try expect(.colon)
      let type = try typeReference()
      let defaultValue = try skip(.equals) ? try value(isConst: true) : nil
      let directives = try directives(isConst: true)
      definitions.append(
        VariableDefinition(
          description: description, name: name, type: type, defaultValue: defaultValue,
          directives: directives,
          location: location(from: start)))
    } while try !close(.parenRight)
    return definitions
  }
}

extension Parser {
  private mutating func selectionSet() throws(Fault) -> SelectionSet {
    let start = token
    try open(.braceLeft)
    var selections: [Selection] = []
    repeat {
      selections.append(
        token.kind == .spread ? try fragmentSelection() : .field(try field()))
    } while try !close(.braceRight)
    return SelectionSet(selections, location: location(from: start))
  }

  private mutating func field() throws(Fault) -> Field {
    let start = token
    var name = try name()
    var alias: Name?
    if try skip(.colon) {
      alias = name
      name = try self.name()
    }
    let arguments = try arguments(isConst: false)
    let directives = try directives(isConst: false)
    let selectionSet = token.kind == .braceLeft ? try selectionSet() : nil
    return Field(
      alias: alias, name: name, arguments: arguments, directives: directives,
      selectionSet: selectionSet, location: location(from: start))
  }

  /// `...Name`, `... on Type { }` or `... { }`.
  private mutating func fragmentSelection() throws(Fault) -> Selection {
    let start = token
    try expect(.spread)
    let hasCondition = try skip(keyword: "on")
    if !hasCondition, token.kind == .name {
      let name = try name()
      let directives = try directives(isConst: false)
      return .fragmentSpread(
        FragmentSpread(name: name, directives: directives, location: location(from: start)))
    }
    let condition = hasCondition ? try name() : nil
    let directives = try directives(isConst: false)
    let selectionSet = try selectionSet()
    return .inlineFragment(
      InlineFragment(
        typeCondition: condition, directives: directives, selectionSet: selectionSet,
        location: location(from: start)))
  }
}
