extension Parser {
  mutating func arguments(isConst: Bool) throws(Fault) -> [Argument] {
    guard token.kind == .parenLeft else { return [] }
    try open(.parenLeft)
    var arguments: [Argument] = []
    repeat {
      let start = token
      let name = try name()
      try expect(.colon)
      let value = try value(isConst: isConst)
      arguments.append(Argument(name: name, value: value, location: location(from: start)))
    } while try !close(.parenRight)
    return arguments
  }

  mutating func directives(isConst: Bool) throws(Fault) -> [Directive] {
    var directives: [Directive] = []
    while token.kind == .at {
      let start = token
      try advance()
      let name = try name()
      let arguments = try arguments(isConst: isConst)
      directives.append(
        Directive(name: name, arguments: arguments, location: location(from: start)))
    }
    return directives
  }

  /// Parses a value (specification 2.9). A constant one holds no variables.
  mutating func value(isConst: Bool) throws(Fault) -> Value {
    let start = token
    let kind: Value.Kind
    switch token.kind {
    case .bracketLeft: kind = .list(try listItems(isConst: isConst))
    case .braceLeft: kind = .object(try objectFields(isConst: isConst))
    case .dollar:
      try advance()
      let name = try name()
      if isConst {
        throw fault("Unexpected variable \"$\(name)\" in a constant value.", at: start)
      }
      kind = .variable(name.value)
    default:
      kind = try scalarValue()
      try advance()
    }
    return Value(kind, location: location(from: start))
  }

  /// The value of the current token, which is not consumed.
  private func scalarValue() throws(Fault) -> Value.Kind {
    switch token.kind {
    case .int: return .int(text(of: token))
    case .float: return .float(text(of: token))
    case .string: return .string(token.text, isBlock: false)
    case .blockString: return .string(token.text, isBlock: true)
    case .name:
      switch text(of: token) {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      case "null": return .null
      case let name: return .enum(name)
      }
    default: throw unexpected()
    }
  }

  private mutating func listItems(isConst: Bool) throws(Fault) -> [Value] {
    try open(.bracketLeft)
    var items: [Value] = []
    while try !close(.bracketRight) { items.append(try value(isConst: isConst)) }
    return items
  }

  private mutating func objectFields(isConst: Bool) throws(Fault) -> [ObjectField] {
    try open(.braceLeft)
    var fields: [ObjectField] = []
    while try !close(.braceRight) {
      let start = token
      let name = try name()
      try expect(.colon)
      let value = try value(isConst: isConst)
      fields.append(ObjectField(name: name, value: value, location: location(from: start)))
    }
    return fields
  }

  mutating func typeReference() throws(Fault) -> TypeReference {
    let start = token
    let type: TypeReference
    if token.kind == .bracketLeft {
      try open(.bracketLeft)
      let item = try typeReference()
      guard try close(.bracketRight) else { throw unexpected() }
      type = .list(item, location(from: start))
    } else {
      type = .named(try name())
    }
    return try skip(.bang) ? .nonNull(type, location(from: start)) : type
  }
}
