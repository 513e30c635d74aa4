import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON

/// Reads GraphQL parameters out of an HTTP request ("GraphQL over HTTP", sections 5 and 6).
enum RequestReading {
  /// The reason why an HTTP request is not a GraphQL request; determines the response status.
  enum Refusal: Error {
    case unsupportedMediaType
    case tooLarge
    case malformed(String)
    /// The client has disconnected, or the server responds by itself.
    case lost
  }

  static let bodyBytesMax = 1 << 20

  static func read(_ request: ServerRequest) async throws(Refusal) -> ExecutionRequest {
    let json =
      request.method == .get || request.method == .head
      ? try parameters(request) : try await json(request)
    guard let parsed = ExecutionRequest(json) else {
      throw .malformed("The request needs a query, and variables must be an object.")
    }
    return parsed
  }

  static func json(_ request: ServerRequest) async throws(Refusal) -> JSONValue {
    guard GraphQLMediaType.isJSON(request.fields[.contentType]) else {
      throw .unsupportedMediaType
    }
    let bytes: [UInt8]
    do throws(BodyReadError) {
      bytes = try await request.body.collect(upTo: bodyBytesMax)
    } catch {
      if case .tooLarge = error { throw .tooLarge }
      throw .lost
    }
    return try parse(bytes)
  }

  private static func parse(_ bytes: [UInt8]) throws(Refusal) -> JSONValue {
    do throws(JSONParseError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw .malformed("The body is no JSON: \(error)")
    }
  }

  /// Empty parameters count as absent.
  private static func parameters(_ request: ServerRequest) throws(Refusal) -> JSONValue {
    guard let query = try? request.query() else { throw .malformed("The query string is broken.") }
    var members: [JSONMember] = []
    for parameter in query.parameters where !parameter.value.isEmpty {
      switch parameter.name {
      case "query", "operationName":
        members.append(JSONMember(parameter.name, .string(parameter.value)))
      case "variables", "extensions":
        members.append(JSONMember(parameter.name, try parse(Array(parameter.value.utf8))))
      default: break
      }
    }
    return .object(members)
  }
}

/// A GraphQL request with all that HTTP said about it.
struct GraphQLCall {
  let request: ExecutionRequest
  let caller: DemoEngine.Caller
  let prepared: Result<PreparedOperation, RequestRejection>
  let record: RecordedRequest
  /// The media type of the response.
  let mediaType: String

  init(request: ExecutionRequest, http: ServerRequest, engine: DemoEngine) {
    self.request = request
    let fields = http.fields
    caller = DemoEngine.Caller(
      authorization: fields[.authorization],
      idempotencyKey: HTTPField.Name.idempotencyKey.flatMap { fields[$0] },
      isSafe: http.method == .get)
    prepared = engine.prepare(request)
    mediaType = GraphQLMediaType.negotiated(accept: fields[.accept])
    let name = request.operationName ?? (try? prepared.get())?.name ?? ""
    record = RecordedRequest(
      operationName: name, query: request.query, variables: request.variables,
      fields: fields.map { (name: $0.name.canonicalName, value: $0.value) })
  }

  func answer(by engine: DemoEngine, brokenFields: Set<String>) -> DemoResponse {
    switch prepared {
    case .success(let operation):
      engine.answer(operation, of: request, from: caller, brokenFields: brokenFields)
    case .failure(let rejection):
      DemoResponse(outcome: .rejected(rejection.reason), bytes: rejection.bytes)
    }
  }
}

/// The media types of GraphQL responses.
enum GraphQLMediaType {
  static let response = "application/graphql-response+json"
  static let json = "application/json"

  /// The newer type if the client lists it with a quality above zero, else plain JSON. An `Accept`
  /// that admits neither is ignored, as most servers do.
  static func negotiated(accept: String?) -> String {
    let ranges = (accept ?? "").split(separator: ",")
    let takesResponse = ranges.contains { range in
      let parts = range.split(separator: ";").map { trimmed($0) }
      let isRefused = parts.dropFirst().contains {
        ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0)
      }
      return parts.first == response && !isRefused
    }
    return "\(takesResponse ? response : json); charset=utf-8"
  }

  /// Whether a request's content type is JSON, whatever its parameters.
  static func isJSON(_ contentType: String?) -> Bool {
    contentType?.split(separator: ";").first.map(trimmed) == json
  }

  private static func trimmed(_ text: Substring) -> String {
    Array(text.utf8)[...].trimmingBlanks.text.lowercased()
  }
}
