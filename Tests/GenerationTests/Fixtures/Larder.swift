// What generated Swift code needs of the library, as docs/generate.md lists it.

public protocol Entity: Codable, Hashable, Sendable, Identifiable {
  associatedtype Columns: Sendable
  static var typeName: String { get }
  static var keyFields: [String] { get }
  static var isLocal: Bool { get }
  static var columns: Columns { get }
}

extension Entity {
  /// The id of a key of several fields: each value after its length in bytes.
  public static func compositeID(_ parts: [String]) -> String {
    parts.map { "\($0.utf8.count):\($0)" }.joined()
  }
}

public struct Column<Value>: Sendable {
  public let name: String

  public init(_ name: String) { self.name = name }
}

public enum OperationKind: String, Sendable {
  case query, mutation, subscription
}

public protocol GraphQLOperation: Hashable, Sendable {
  associatedtype Variables: Codable, Hashable, Sendable
  associatedtype Response: Codable, Hashable, Sendable
  static var name: String { get }
  static var kind: OperationKind { get }
  var variables: Variables { get }
}

public struct Reference: Codable, Hashable, Sendable {
  public var type: String
  public var id: String

  public init(type: String, id: String) {
    self.type = type
    self.id = id
  }
}

public enum JSONValue: Codable, Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
