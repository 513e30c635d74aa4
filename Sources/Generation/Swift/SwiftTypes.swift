import LosslessJSON
import Model

/// The texts of types and values in Swift.
enum SwiftTypes {
  static func text(_ type: CodeType) -> String {
    switch type {
    case .optional(let inner): text(inner) + "?"
    case .list(let item): "[\(text(item))]"
    case .named(let name), .nested(let name): name
    case .reference: "Reference"
    case .scalar(let form): text(form)
    }
  }

  private static func text(_ form: ScalarForm) -> String {
    switch form {
    case .string: "String"
    case .int: "Int"
    case .long: "Int64"
    case .double: "Double"
    case .boolean: "Bool"
    case .decimal: "Decimal"
    case .date: "Date"
    case .uuid: "UUID"
    case .url: "URL"
    case .data: "Data"
    case .json: "JSONValue"
    }
  }

  /// The type of a member that is read.
  static func read(_ property: CodeProperty) -> String {
    text(property.type) + (property.isOptional ? "?" : "")
  }

  /// The type of a member that is only sent: nil leaves it out, and `.some(nil)` sends null.
  static func sent(_ property: CodeProperty) -> String {
    text(property.type) + (property.isNullable ? "??" : property.isConditional ? "?" : "")
  }

  /// A default value as an expression; nil if it has none, or none that can be written.
  static func literal(_ value: JSONValue?, _ type: CodeType) -> String? {
    switch (type, value) {
    case (.scalar(.string), .string(let text)?): quoted(text)
    case (.scalar(.int), .number(let number)?), (.scalar(.long), .number(let number)?),
      (.scalar(.double), .number(let number)?):
      number.digits
    case (.scalar(.boolean), .bool(let flag)?): flag.description
    case (.named(let name), .string(let text)?): "\(name)(rawValue: \(quoted(text)))"
    case (.list, .array(let elements)?) where elements.isEmpty: "[]"
    default: nil
    }
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
