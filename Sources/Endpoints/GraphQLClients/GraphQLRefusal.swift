import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// The failure of a GraphQL request, in the form in which GraphQL clients read it.
struct GraphQLRefusal: Error, Sendable {
  /// Whose fault it is, for clients that read a stream.
  enum Kind: Sendable, Hashable {
    /// The document, its variables or a parameter is wrong.
    case request
    /// The hash of an automatic persisted query is not known: the client sends the text next.
    case hashUnknown
    /// Anything else, such as a missing credential or an unavailable upstream.
    case other
  }

  let failure: Failure
  /// Of a response with the media type of GraphQL over HTTP.
  let status: Int
  /// The value of `extensions.code`.
  let code: String
  let kind: Kind

  private init(_ failure: Failure, status: Int, code: String, kind: Kind) {
    self.failure = failure
    self.status = status
    self.code = code
    self.kind = kind
  }

  /// Unlike on REST paths, variables that cannot be coerced are 422, as GraphQL over HTTP demands.
  init(_ failure: Failure) {
    let status =
      failure.code == .invalidVariables ? 422 : FailureStatus.status(of: failure.code)
    let isOfRequest =
      [.invalidVariables, .documentUnknown, .malformedRequest].contains(failure.code)
    self.init(
      failure, status: status, code: failure.code.rawValue, kind: isOfRequest ? .request : .other)
  }

  /// A well-formed JSON body whose members are missing or of the wrong type.
  static func parameter(_ message: String) -> GraphQLRefusal {
    let failure = Failure(.malformedRequest, message)
    return GraphQLRefusal(failure, status: 422, code: failure.code.rawValue, kind: .request)
  }

  /// Message and code are those that the clients of automatic persisted queries look for.
  static let hashUnknown = GraphQLRefusal(
    Failure(.documentUnknown, "PersistedQueryNotFound"), status: 404,
    code: "PERSISTED_QUERY_NOT_FOUND", kind: .hashUnknown)

  static let hashMismatch = GraphQLRefusal(
    Failure(.malformedRequest, "sha256Hash is not the SHA-256 of query."), status: 400,
    code: "PERSISTED_QUERY_HASH_MISMATCH", kind: .request)

  /// Runs a use case and converts its failure.
  static func converting<Value>(
    _ body: () async throws(Failure) -> Value
  ) async throws(GraphQLRefusal) -> Value {
    do throws(Failure) {
      return try await body()
    } catch {
      throw GraphQLRefusal(error)
    }
  }
}

extension GraphQLRefusal {
  /// `{"errors":[…]}`: a response without data.
  func body(requestID: String?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("errors")
    writeErrors(requestID: requestID, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// The list of errors, as the protocols of streams carry it.
  func errors(requestID: String?) -> [UInt8] {
    var writer = JSONWriter()
    writeErrors(requestID: requestID, to: &writer)
    return writer.bytes
  }

  private func writeErrors(requestID: String?, to writer: inout JSONWriter) {
    writer.beginArray()
    writer.beginObject()
    writer.member("message", failure.message)
    writer.name("extensions")
    writer.beginObject()
    writer.member("code", code)
    writer.member("retry", failure.retry.rawValue)
    if let requestID { writer.member("requestId", requestID) }
    if !failure.details.isEmpty {
      writer.name("errors")
      writer.faults(failure.details.map(Self.inVariables))
    }
    writer.endObject()
    writer.endObject()
    writer.endArray()
  }

  /// A pointer into the variables as one into the request.
  private static func inVariables(_ detail: Failure.Detail) -> Failure.Detail {
    guard case .pointer(let pointer) = detail.place else { return detail }
    return Failure.Detail(place: .pointer("/variables\(pointer)"), detail: detail.detail)
  }
}

extension ServerResponse {
  /// A refusal as a response, with the fields of a problem document's.
  static func refusal(
    _ refusal: GraphQLRefusal, accept: GraphQLAccept, request: ServerRequest
  ) -> ServerResponse {
    var response = ServerResponse.failure(refusal.failure, request: request)
    let isGraphQL = accept.single == .graphQL
    // Clients of automatic persisted queries that read only JSON expect 200, and give up on others.
    let isQuiet = refusal.kind == .hashUnknown && !isGraphQL
    response.status = HTTPResponse.Status(code: isQuiet ? 200 : refusal.status)
    response.fields[.contentType] = (isGraphQL ? ReadForm.graphQL : .graphQLAsJSON).contentType
    response.body = .bytes(refusal.body(requestID: request.id))
    if refusal.failure.code == .methodNotAllowed { response.fields[.allow] = "POST" }
    return response
  }
}
