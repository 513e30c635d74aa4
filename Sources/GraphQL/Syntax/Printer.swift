/// A printer of documents in the canonical form of the reference implementation: two spaces per level,
/// one selection per line, a blank line between definitions. The output parses to an equal document.
package struct Printer {
  var output = ""
  var indent = ""

  package static func print(_ document: Document) -> String {
    var texts: [String] = []
    var canTakeBraces = false
    for definition in document.definitions {
      let text = print(definition)
      // A query's short form would be read as the fields of a definition that has none, as in `type T`.
      texts.append(canTakeBraces && text.hasPrefix("{") ? "query " + text : text)
      canTakeBraces =
        switch definition {
        case .type, .schema: !text.hasSuffix("}")
        case .operation, .fragment, .directive: false
        }
    }
    return texts.joined(separator: "\n\n") + "\n"
  }

  package static func print(_ definition: Definition) -> String {
    var printer = Printer()
    printer.write(definition)
    return printer.output
  }

  package static func print(_ selectionSet: SelectionSet) -> String {
    var printer = Printer()
    printer.write(selectionSet)
    return printer.output
  }

  /// Returns the value on one line, unless it holds a block string of several.
  package static func print(_ value: Value) -> String {
    switch value.kind {
    case .variable(let name): "$" + name
    case .int(let digits), .float(let digits): digits
    case .string(let text, let isBlock):
      isBlock && BlockString.canHold(text)
        ? BlockString.literal(text, indent: "") : quoted(text)
    case .boolean(let flag): flag ? "true" : "false"
    case .null: "null"
    case .enum(let name): name
    case .list(let items): "[" + items.map(print).joined(separator: ", ") + "]"
    case .object(let fields):
      "{" + fields.map { "\($0.name): \(print($0.value))" }.joined(separator: ", ") + "}"
    }
  }

  package static func print(_ directive: Directive) -> String {
    "@\(directive.name)" + arguments(directive.arguments)
  }

  static func arguments(_ arguments: [Argument]) -> String {
    if arguments.isEmpty { return "" }
    return "(" + arguments.map(argument).joined(separator: ", ") + ")"
  }

  static func argument(_ argument: Argument) -> String {
    "\(argument.name): \(print(argument.value))"
  }

  static func directives(_ directives: [Directive]) -> String {
    directives.map { " " + print($0) }.joined()
  }

  /// Returns the text as a string literal on one line.
  package static func quoted(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": output += "\\\""
      case "\\": output += "\\\\"
      case "\n": output += "\\n"
      case "\r": output += "\\r"
      case "\t": output += "\\t"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16, uppercase: true)
        output += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output + "\""
  }
}

extension Printer {
  mutating func line(_ text: String) {
    output += "\n" + indent + text
  }

  mutating func indented(_ body: (inout Printer) -> Void) {
    let outer = indent
    indent += "  "
    body(&self)
    indent = outer
  }

  private mutating func write(_ definition: Definition) {
    switch definition {
    case .operation(let operation): write(operation)
    case .fragment(let fragment): write(fragment)
    case .schema(let schema): write(schema)
    case .type(let type): write(type)
    case .directive(let directive): write(directive)
    }
  }

  private mutating func write(_ operation: OperationDefinition) {
    let isShorthand =
      operation.operation == .query && operation.name == nil
      && operation.variableDefinitions.isEmpty && operation.directives.isEmpty
    if !isShorthand {
      write(operation.description)
      output += operation.operation.rawValue
      if let name = operation.name { output += " \(name)" }
      if !operation.variableDefinitions.isEmpty {
        if operation.name == nil { output += " " }
        write(operation.variableDefinitions)
      }
      output += Self.directives(operation.directives) + " "
    }
    write(operation.selectionSet)
  }

  /// Writes variables on one line, or on a line each if one has a description.
  private mutating func write(_ variables: [VariableDefinition]) {
    guard variables.contains(where: { $0.description != nil }) else {
      output += "(" + variables.map(Self.variable).joined(separator: ", ") + ")"
      return
    }
    output += "("
    indented { printer in
      for variable in variables {
        printer.line("")
        printer.write(variable.description)
        printer.output += Self.variable(variable)
      }
    }
    line(")")
  }

  private static func variable(_ definition: VariableDefinition) -> String {
    "$\(definition.name): \(definition.type)"
      + (definition.defaultValue.map { " = " + print($0) } ?? "")
      + directives(definition.directives)
  }

  private mutating func write(_ fragment: FragmentDefinition) {
    write(fragment.description)
    output += "fragment \(fragment.name) on \(fragment.typeCondition)"
    output += Self.directives(fragment.directives) + " "
    write(fragment.selectionSet)
  }

  private mutating func write(_ selectionSet: SelectionSet) {
    output += "{"
    indented { printer in
      for selection in selectionSet.selections { printer.write(selection) }
    }
    line("}")
  }

  private mutating func write(_ selection: Selection) {
    switch selection {
    case .field(let field): write(field)
    case .fragmentSpread(let spread):
      line("...\(spread.name)" + Self.directives(spread.directives))
    case .inlineFragment(let fragment):
      let condition = fragment.typeCondition.map { " on \($0)" } ?? ""
      line("...\(condition)" + Self.directives(fragment.directives) + " ")
      write(fragment.selectionSet)
    }
  }

  private mutating func write(_ field: Field) {
    let prefix = (field.alias.map { "\($0): " } ?? "") + field.name.value
    let arguments = Self.arguments(field.arguments)
    line(prefix)
    let columns = indent.utf8.count + prefix.utf8.count + arguments.utf8.count
    if !arguments.isEmpty, columns > Self.lineColumnsMax {
      output += "("
      indented { printer in
        for argument in field.arguments { printer.line(Self.argument(argument)) }
      }
      line(")")
    } else {
      output += arguments
    }
    output += Self.directives(field.directives)
    if let selectionSet = field.selectionSet {
      output += " "
      write(selectionSet)
    }
  }

  /// The column beyond which the arguments of a field are written on a line each.
  private static let lineColumnsMax = 80
}
