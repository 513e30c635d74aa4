/// A type of the local database, as generated code has it: an entity type of the API, or a local type.
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
    joinedKey(parts)
  }
}

func joinedKey(_ parts: [String]) -> String {
  parts.map { "\($0.utf8.count):\($0)" }.joined()
}

/// A member of an entity that conditions and orders can name.
public struct Column<Value>: Sendable {
  /// The field's name in the schema.
  public let name: String

  public init(_ name: String) {
    self.name = name
  }
}

/// A reference to an entity of one of several types.
public struct Reference: Codable, Hashable, Sendable {
  public var type: String
  public var id: String

  public init(type: String, id: String) {
    self.type = type
    self.id = id
  }
}

/// What an operation is.
public enum OperationKind: String, Sendable {
  case query, mutation, subscription
}

/// An operation of the operations folder with its variables, as generated code has it.
public protocol GraphQLOperation: Hashable, Sendable {
  associatedtype Variables: Codable, Hashable, Sendable
  associatedtype Response: Codable, Hashable, Sendable
  static var name: String { get }
  static var kind: OperationKind { get }
  /// Nil for an operation that the replica cannot answer.
  static var entityLookup: EntityLookup? { get }
  var variables: Variables { get }
}

extension GraphQLOperation {
  public static var entityLookup: EntityLookup? { nil }
}

extension GraphQLOperation {
  /// Throws unless the operation is of a kind that a call takes.
  static func check(_ kinds: OperationKind..., for call: String) throws {
    guard !kinds.contains(kind) else { return }
    let wanted = kinds.map { "a \($0.rawValue)" }.joined(separator: " or ")
    throw LarderError.invalidArgument(
      "`\(call)` takes \(wanted), and \(name) is a \(kind.rawValue).")
  }
}
