import LosslessJSON
import Yams

/// The OpenAPI document without the paths of operations: a YAML file inside the binary.
enum OpenAPIResource {
  /// The path relative to the root of the sources.
  static let path = "Sources/CResources/openapi.yaml"

  /// The reason why there is no value. Tests read the file, so that no build that passes them has one.
  enum Fault: Error, Equatable {
    case notEmbedded
    /// A name of a member that is a list or a mapping.
    case nameNotText(line: Int)
  }

  static func value() throws -> JSONValue {
    guard let file = ShippedFiles.embedded.first(where: { $0.path == path }) else {
      throw Fault.notEmbedded
    }
    return try value(of: String(decoding: file.bytes, as: UTF8.self))
  }

  /// Converts YAML by its JSON schema (YAML 1.2.2 section 10.2), except that plain text is a string.
  ///
  /// A name that occurs twice is a fault.
  static func value(of text: String) throws -> JSONValue {
    // No resolver, and an explicit encoding: see `DistinctKeys.compose`.
    try Yams.compose(yaml: text, .basic, .default, .utf8).map(value) ?? .null
  }

  private static func value(_ node: Node) throws -> JSONValue {
    switch node {
    case .scalar(let scalar): value(scalar)
    case .sequence(let nodes): .array(try nodes.map(value))
    case .mapping(let mapping):
      .object(
        try mapping.map { name, node in
          guard case .scalar(let name) = name else {
            throw Fault.nameNotText(line: name.mark?.line ?? 1)
          }
          return JSONMember(name.string, try value(node))
        })
    case .alias:
      // The parser has replaced every alias with the anchor's node.
      .null
    }
  }

  private static func value(_ scalar: Node.Scalar) -> JSONValue {
    guard scalar.style == .plain else { return .string(scalar.string) }
    switch scalar.string {
    case "null", "": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      let canBeNumber = scalar.string.first.map { "-0123456789".contains($0) } ?? false
      let number = canBeNumber ? JSONNumber(digits: scalar.string) : nil
      return number.map(JSONValue.number) ?? .string(scalar.string)
    }
  }
}
