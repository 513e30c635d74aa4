import LosslessJSON

/// A client's message of `graphql-transport-ws`, and the texts of the server's.
enum GraphQLMessage: Equatable, Sendable {
  /// The payload is an object, empty if the message has none.
  case initialise(JSONValue)
  case ping(JSONValue?)
  case pong
  /// The payload is an object.
  case subscribe(id: String, request: JSONValue)
  case complete(id: String)

  /// A message that the protocol does not allow.
  struct Fault: Error, Equatable {
    /// Short enough for the reason of a close frame.
    let reason: String
  }

  /// The deepest nesting of a message.
  private static let limits = JSONLimits(depthMax: 128)

  init(parsing text: [UInt8], idBytesMax: Int) throws(Fault) {
    let value: JSONValue
    do throws(JSONParseError) {
      value = try JSONValue(parsing: text, limits: Self.limits)
    } catch {
      throw Fault(reason: "not JSON: \(error)")
    }
    guard value.members != nil else { throw Fault(reason: "not a JSON object") }
    guard let type = value["type"]?.string else { throw Fault(reason: "type is not a string") }
    switch type {
    case "connection_init": self = .initialise(try Self.payload(of: value) ?? [:])
    case "ping": self = .ping(try Self.payload(of: value))
    case "pong":
      _ = try Self.payload(of: value)
      self = .pong
    case "subscribe":
      let id = try Self.id(of: value, bytesMax: idBytesMax)
      guard let request = try Self.payload(of: value) else {
        throw Fault(reason: "subscribe has no payload")
      }
      self = .subscribe(id: id, request: request)
    case "complete": self = .complete(id: try Self.id(of: value, bytesMax: idBytesMax))
    case "connection_ack", "next", "error":
      throw Fault(reason: "\(type) is a message of the server")
    default: throw Fault(reason: "the type is unknown")
    }
  }

  private static func payload(of value: JSONValue) throws(Fault) -> JSONValue? {
    switch value["payload"] {
    case nil, .null?: return nil
    case .object(let members)?: return .object(members)
    default: throw Fault(reason: "payload is not an object")
    }
  }

  private static func id(of value: JSONValue, bytesMax: Int) throws(Fault) -> String {
    guard let id = value["id"]?.string, !id.isEmpty else {
      throw Fault(reason: "id is not a string, or empty")
    }
    guard id.utf8.count <= bytesMax else {
      throw Fault(reason: "id has more than \(bytesMax) bytes")
    }
    return id
  }
}

/// The server's messages.
extension GraphQLMessage {
  static let acknowledgement = Array(#"{"type":"connection_ack"}"#.utf8)

  static func pong(_ payload: JSONValue?) -> [UInt8] {
    guard let payload else { return Array(#"{"type":"pong"}"#.utf8) }
    return Array(#"{"type":"pong","payload":"#.utf8) + payload.bytes + [UInt8(ascii: "}")]
  }

  /// - Parameter result: a JSON object with `data` or `errors`.
  static func next(_ id: String, _ result: [UInt8]) -> [UInt8] { message("next", id, result) }

  /// - Parameter errors: a JSON list of at least one error.
  static func error(_ id: String, _ errors: [UInt8]) -> [UInt8] { message("error", id, errors) }

  static func complete(_ id: String) -> [UInt8] { message("complete", id, nil) }

  /// A list of one error.
  static func errors(_ message: String, code: String) -> [UInt8] {
    let error: JSONValue = [
      "message": .string(message), "extensions": ["code": .string(code)],
    ]
    return JSONValue.array([error]).bytes
  }

  private static func message(_ type: String, _ id: String, _ payload: [UInt8]?) -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve((payload?.count ?? 0) + id.utf8.count + 48)
    writer.beginObject()
    writer.name("id")
    writer.string(id)
    writer.name("type")
    writer.string(type)
    if let payload {
      writer.name("payload")
      writer.raw(payload)
    }
    writer.endObject()
    return writer.bytes
  }
}
