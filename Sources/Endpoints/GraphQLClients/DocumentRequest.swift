import Gateway
import HTTPWire
import LosslessJSON
import Model

/// The parameters of one GraphQL request, from a body, a query string or a message of a socket.
///
/// A member that is null, or a text that is empty, counts as absent. Unknown members are ignored, as
/// GraphQL over HTTP demands.
struct DocumentRequest: Sendable {
  private(set) var reference = DocumentReference()
  /// A JSON object; nil without variables.
  private(set) var variables: JSONValue?
  /// Whether the query is a live query: `extensions: {"live": true}`.
  private(set) var isLive = false
  /// The idempotency key of a client that sends no header fields; not yet checked.
  private(set) var idempotencyKey: String?

  /// The variables as an operation takes them.
  var input: VariableInput { .value(variables ?? [:]) }

  /// Reads the content of a `POST`.
  init(body: [UInt8]) throws(GraphQLRefusal) {
    guard !body.isEmpty else {
      throw GraphQLRefusal(
        Failure(.malformedRequest, "The request has no body; it must be a JSON object."))
    }
    let value: JSONValue
    do throws(JSONParseError) {
      value = try JSONValue(parsing: body)
    } catch {
      throw GraphQLRefusal(Failure(.malformedRequest, "The body is not JSON: \(error)"))
    }
    try self.init(value)
  }

  /// Reads the object of a body or of a message.
  init(_ value: JSONValue) throws(GraphQLRefusal) {
    guard let members = value.members else {
      throw value.array == nil
        ? .parameter("The request must be a JSON object.")
        : GraphQLRefusal(
          Failure(
            .malformedRequest,
            "Batches are not supported: send each operation as a request of its own."))
    }
    try Self.checkRepeated(members)
    reference.text = try Self.text("query", of: value)
    reference.operationName = try Self.text("operationName", of: value)
    reference.documentID = try Self.text("documentId", of: value)
    variables = try Self.object("variables", value["variables"])
    try readExtensions(try Self.object("extensions", value["extensions"]))
  }

  /// Reads a query string.
  init(parameters: [QueryString.Parameter]) throws(GraphQLRefusal) {
    var seen: Set<String> = []
    for parameter in parameters where Self.names.contains(parameter.name) {
      guard seen.insert(parameter.name).inserted else {
        throw .parameter("The parameter \(parameter.name) is given more than once.")
      }
      guard !parameter.value.isEmpty else { continue }
      switch parameter.name {
      case "query": reference.text = parameter.value
      case "operationName": reference.operationName = parameter.value
      case "documentId": reference.documentID = parameter.value
      case "variables":
        variables = try Self.object("variables", try Self.json(parameter))
      default:
        try readExtensions(try Self.object("extensions", try Self.json(parameter)))
      }
    }
  }

  private static let names: Set<String> = [
    "query", "operationName", "documentId", "variables", "extensions",
  ]

  private mutating func readExtensions(_ extensions: JSONValue?) throws(GraphQLRefusal) {
    guard let extensions else { return }
    if let query = try Self.object("extensions.persistedQuery", extensions["persistedQuery"]) {
      guard query["version"]?.int64 == 1, let hash = query["sha256Hash"]?.string, !hash.isEmpty
      else {
        throw .parameter(
          "extensions.persistedQuery must have version 1 and a sha256Hash.")
      }
      reference.hash = hash
    }
    switch extensions["live"] {
    case nil, .null?: break
    case .bool(let isOn)?: isLive = isOn
    default: throw .parameter("extensions.live must be true or false.")
    }
    idempotencyKey = try Self.text("idempotencyKey", of: extensions, shown: "extensions.")
  }

  // MARK: Members

  private static func checkRepeated(_ members: [JSONMember]) throws(GraphQLRefusal) {
    var seen: Set<String> = []
    for member in members where names.contains(member.name) {
      guard seen.insert(member.name).inserted else {
        throw .parameter("\(member.name) is given more than once.")
      }
    }
  }

  private static func text(
    _ name: String, of value: JSONValue, shown prefix: String = ""
  ) throws(GraphQLRefusal) -> String? {
    switch value[name] {
    case nil, .null?: return nil
    case .string(let text)?: return text.isEmpty ? nil : text
    default: throw .parameter("\(prefix)\(name) must be a string.")
    }
  }

  private static func object(
    _ name: String, _ value: JSONValue?
  ) throws(GraphQLRefusal) -> JSONValue? {
    switch value {
    case nil, .null?: return nil
    case .object?: return value
    default: throw .parameter("\(name) must be an object.")
    }
  }

  private static func json(_ parameter: QueryString.Parameter) throws(GraphQLRefusal) -> JSONValue {
    do throws(JSONParseError) {
      return try JSONValue(parsing: parameter.value)
    } catch {
      throw .parameter("The parameter \(parameter.name) is not JSON: \(error)")
    }
  }
}
