import LosslessJSON

@testable import DemoUpstream

/// A resolver over a JSON tree: each object names its type in `__typename` and holds its fields.
///
/// `{"$error": "…"}` stands for a field that fails, `echo` returns its arguments as text, and `count` is
/// a mutation that returns the number of previous calls.
struct TreeResolver: FieldResolver {
  let tree: JSONValue
  private(set) var effects = 0

  init(_ tree: JSONValue) {
    self.tree = tree
  }

  func root(_ typeName: String) -> JSONValue {
    var root = tree
    root["__typename"] = .string(typeName)
    return root
  }

  func typeName(of object: JSONValue) -> String { object["__typename"]?.string ?? "?" }

  mutating func resolve(
    _ field: String, of object: JSONValue, arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<JSONValue> {
    switch field {
    case "echo": return .text(arguments.canonicalText)
    case "count":
      effects += 1
      return .int(effects)
    default: return Self.resolved(object[field] ?? .null)
    }
  }

  private static func resolved(_ value: JSONValue) -> Resolved<JSONValue> {
    switch value {
    case .null, .bool, .number, .string: .value(value)
    case .array(let elements): .list(elements.map(resolved))
    case .object:
      if let message = value["$error"]?.string {
        .failure(FieldFailure(message, code: "PLANTED"))
      } else {
        .object(value)
      }
    }
  }
}
