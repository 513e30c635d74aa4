extension Printer {
  mutating func write(_ schema: SchemaDefinition) {
    write(schema.description)
    output += (schema.isExtension ? "extend schema" : "schema")
    output += Self.directives(schema.directives)
    let types = schema.operationTypes
    block(types) { printer, type in
      printer.line("\(type.operation.rawValue): \(type.type)")
    }
  }

  mutating func write(_ type: TypeDefinition) {
    write(type.description)
    output += type.isExtension ? "extend " : ""
    output += "\(type.keyword) \(type.name)"
    if !type.interfaces.isEmpty {
      output += " implements " + type.interfaces.map(\.value).joined(separator: " & ")
    }
    output += Self.directives(type.directives)
    switch type.body {
    case .scalar: break
    case .object(_, let fields), .interface(_, let fields):
      block(fields) { printer, field in printer.write(field) }
    case .union(let members):
      if !members.isEmpty { output += " = " + members.map(\.value).joined(separator: " | ") }
    case .enum(let values):
      block(values) { printer, value in
        printer.line("")
        printer.write(value.description)
        printer.output += value.name.value + Self.directives(value.directives)
      }
    case .inputObject(let fields):
      block(fields) { printer, field in
        printer.line("")
        printer.write(field)
      }
    }
  }

  mutating func write(_ directive: DirectiveDefinition) {
    write(directive.description)
    output += "directive @\(directive.name)"
    write(arguments: directive.arguments)
    output += directive.isRepeatable ? " repeatable on " : " on "
    output += directive.locations.map(\.rawValue).joined(separator: " | ")
  }

  private mutating func write(_ field: FieldDefinition) {
    line("")
    write(field.description)
    output += field.name.value
    write(arguments: field.arguments)
    output += ": \(field.type)" + Self.directives(field.directives)
  }

  private mutating func write(_ value: InputValueDefinition) {
    write(value.description)
    output += "\(value.name): \(value.type)"
    if let defaultValue = value.defaultValue { output += " = " + Self.print(defaultValue) }
    output += Self.directives(value.directives)
  }

  /// Writes arguments on one line, or on a line each if one has a description.
  private mutating func write(arguments: [InputValueDefinition]) {
    if arguments.isEmpty { return }
    output += "("
    if arguments.contains(where: { $0.description != nil }) {
      indented { printer in
        for argument in arguments {
          printer.line("")
          printer.write(argument)
        }
      }
      line("")
    } else {
      for (index, argument) in arguments.enumerated() {
        if index > 0 { output += ", " }
        write(argument)
      }
    }
    output += ")"
  }

  /// Writes the description and a new line at the current indentation.
  mutating func write(_ description: Description?) {
    guard let description else { return }
    let text = description.text
    let isBlock = description.isBlock && BlockString.canHold(text)
    output += isBlock ? BlockString.literal(text, indent: indent) : Self.quoted(text)
    line("")
  }

  private mutating func block<Element>(
    _ elements: [Element], _ write: (inout Printer, Element) -> Void
  ) {
    if elements.isEmpty { return }
    output += " {"
    indented { printer in
      for element in elements { write(&printer, element) }
    }
    line("}")
  }
}

extension TypeDefinition {
  fileprivate var keyword: String {
    switch kind {
    case .scalar: "scalar"
    case .object: "type"
    case .interface: "interface"
    case .union: "union"
    case .enum: "enum"
    case .inputObject: "input"
    }
  }
}
