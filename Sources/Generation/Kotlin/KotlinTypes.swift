import LosslessJSON
import Model

/// The texts of types and values in Kotlin.
enum KotlinTypes {
  static func text(_ type: CodeType) -> String {
    switch type {
    case .optional(let inner): text(inner) + "?"
    case .list(let item): "List<\(text(item))>"
    case .named(let name), .nested(let name): name
    case .reference: "Reference"
    case .scalar(let form): text(form)
    }
  }

  /// What has no type in the standard library stays as it is in JSON.
  private static func text(_ form: ScalarForm) -> String {
    switch form {
    case .string, .date, .uuid, .url, .data: "String"
    case .int: "Int"
    case .long: "Long"
    case .double: "Double"
    case .boolean: "Boolean"
    case .decimal: "JsonPrimitive"
    case .json: "JsonElement"
    }
  }

  static func text(_ property: CodeProperty) -> String {
    text(property.type) + (property.isOptional ? "?" : "")
  }

  /// The type of a member of a contract, whose nested types are contracts.
  static func text(_ property: CodeProperty, in contract: CodeContract) -> String {
    let type = contract.nested[property.wire].map { property.type.named($0.name) } ?? property.type
    return text(type) + (property.isOptional ? "?" : "")
  }

  /// A default value as an expression; nil if it has none, or none that can be written.
  static func literal(_ value: JSONValue?, _ type: CodeType) -> String? {
    switch (type, value) {
    case (.scalar(.string), .string(let text)?): quoted(text)
    case (.scalar(.int), .number(let number)?): number.digits
    case (.scalar(.long), .number(let number)?): number.digits + "L"
    case (.scalar(.double), .number(let number)?):
      number.digits.contains { ".eE".contains($0) } ? number.digits : number.digits + ".0"
    case (.scalar(.boolean), .bool(let flag)?): flag.description
    case (.named(let name), .string(let text)?): "\(name)(\(quoted(text)))"
    case (.list, .array(let elements)?) where elements.isEmpty: "emptyList()"
    default: nil
    }
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for unit in text.utf16 {
      switch unit {
      case 0x22, 0x5C, 0x24: result += "\\" + String(UnicodeScalar(UInt8(unit)))
      case 0x20..<0x7F: result.unicodeScalars.append(UnicodeScalar(UInt8(unit)))
      default:
        let digits = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return result + "\""
  }
}

extension CodeType {
  /// The type with another one in place of the type inside its record.
  fileprivate func named(_ name: String) -> CodeType {
    switch self {
    case .optional(let inner): .optional(inner.named(name))
    case .list(let item): .list(item.named(name))
    case .nested: .named(name)
    case .named, .scalar, .reference: self
    }
  }
}
