/// The scalars of the specification (3.5) and the literals that each accepts. A custom scalar accepts
/// every value: only its server knows its grammar.
enum BuiltInScalar: String {
  case int = "Int"
  case float = "Float"
  case string = "String"
  case boolean = "Boolean"
  case id = "ID"

  /// Returns why a literal does not fit; nil if it does. Overlong floats are left to the server.
  func problem(of value: Value) -> String? {
    switch (self, value.kind) {
    case (.int, .int(let digits)):
      Int32(digits) == nil
        ? "Int cannot represent non 32-bit signed integer value: \(digits)" : nil
    case (.float, .int), (.float, .float), (.string, .string), (.id, .string), (.id, .int),
      (.boolean, .boolean):
      nil
    default:
      "\(rawValue) cannot represent a \(lacking) value: \(Printer.print(value))"
    }
  }

  private var lacking: String {
    switch self {
    case .int: "non-integer"
    case .float: "non numeric"
    case .string: "non string"
    case .boolean: "non boolean"
    case .id: "non-string and non-integer"
    }
  }
}
