import GraphQL
package import HTTPClient
import HTTPTypes
import LosslessJSON
package import Model

/// Executes operations on one upstream.
package final class UpstreamClient: Sendable {
  /// Sends one request within a time; `HTTPClient.execute`, or a script in tests.
  package typealias Exchange =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  package let settings: UpstreamSettings
  private let exchange: Exchange
  /// Nil if the settings' address is none.
  private let url: HTTPURL?
  private let dialect: any UpstreamDialect
  private let reader: UpstreamResponseReader

  /// - Parameter clock: what a `Retry-After` that names a moment is read against.
  package init(settings: UpstreamSettings, clock: WallClock, exchange: @escaping Exchange) {
    self.settings = settings
    self.exchange = exchange
    url = try? HTTPURL(settings.url)
    dialect = settings.dialect.habits
    reader = UpstreamResponseReader(
      bytesMax: settings.answerBytesMax, depthMax: settings.answerDepthMax, clock: clock)
  }

  package convenience init(settings: UpstreamSettings, clock: WallClock, client: HTTPClient) {
    self.init(settings: settings, clock: clock) { request, limit throws(HTTPClientError) in
      try await client.execute(request, within: limit)
    }
  }

  /// Sends one operation and reads the answer.
  package func execute(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    var body = operation.requestOpening
    body.append(contentsOf: variables.json.utf8)
    body.append(UInt8(ascii: "}"))
    var answer = try await send(
      body, call, operation: operation.name, isSafeToRepeat: operation.kind == .query)
    // What comes with a refusal is kept nowhere.
    guard let data = answer.data, answer.permission == nil else { return answer }
    switch ResponseChecker.check(
      data, selection: operation.selection(for: variables), errors: ErrorPath.read(answer.errors))
    {
    case .success(let hasSurplus):
      answer.hasSurplus = hasSurplus
      return answer
    case .failure(let breach):
      throw .malformed(status: answer.status, reason: breach.phrase, excerpt: "")
    }
  }

  /// Asks for the schema; the answer is introspection's, unread. Servers that do not know the newest
  /// questions are asked older ones.
  package func introspect(call: UpstreamCall) async throws(UpstreamFailure) -> UpstreamResponse {
    var last: UpstreamResponse?
    for query in IntrospectionQuery.all {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("query")
      writer.string(query)
      writer.endObject()
      let answer = try await send(
        writer.bytes, call, operation: "", isSafeToRepeat: true)
      if answer.data != nil || answer.permission != nil { return answer }
      last = answer
    }
    guard let last else { throw .notSent(cause: "there is no introspection query") }
    return last
  }

  private func send(
    _ body: [UInt8], _ call: UpstreamCall, operation: String, isSafeToRepeat: Bool
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    guard let url else { throw .notSent(cause: "\"\(settings.url)\" is not an HTTP address") }
    let request = HTTPClientRequest(
      method: .post, url: url, fields: fields(of: call), body: body,
      isSafeToRepeat: isSafeToRepeat, responseBytesMax: settings.answerBytesMax,
      operation: operation)
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await exchange(request, call.timeout ?? settings.timeout)
    } catch {
      throw UpstreamFailure(error, bytesMax: settings.answerBytesMax)
    }
    return try reader.read(response)
  }

  // MARK: Headers

  /// A user's credential goes alone. The service's own goes with what a caller sends only as far as
  /// that names no other authority and replaces nothing of the service's.
  private func fields(of call: UpstreamCall) -> HTTPFields {
    var fields = HTTPFields()
    fields[.contentType] = "application/json"
    fields[.accept] = "application/graphql-response+json, application/json;q=0.9"
    var own: [UpstreamSettings.Header] = []
    if !call.carriesUserCredential {
      own = settings.headers
      if let secret = settings.secret { own.append(dialect.credential(secret)) }
    }
    let ownNames = Set(own.map { $0.name.lowercased() })
    let forwarded = call.forwarded.filter { header in
      let name = header.name.lowercased()
      return !ownNames.contains(name) && (own.isEmpty || !dialect.isAuthority(name))
    }
    for header in forwarded + own { append(header.name, header.value, to: &fields) }
    if let traceparent = call.traceparent { append("traceparent", traceparent, to: &fields) }
    if let key = call.idempotencyKey { append("Idempotency-Key", key, to: &fields) }
    return fields
  }

  private func append(_ name: String, _ value: String, to fields: inout HTTPFields) {
    guard let name = HTTPField.Name(name) else { return }
    fields.append(HTTPField(name: name, value: value))
  }
}
