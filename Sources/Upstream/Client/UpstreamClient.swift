import GraphQL
package import HTTPClient
import HTTPTypes
import LosslessJSON
package import Model

/// Executes operations on one upstream.
package final class UpstreamClient: Sendable {
  /// Sends one request with a timeout; `HTTPClient.execute`, or a script in tests.
  package typealias Exchange =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  package let settings: UpstreamConfiguration
  private let exchange: Exchange
  /// Nil if the configured URL is invalid.
  private let url: HTTPURL?
  private let dialect: any UpstreamDialect
  private let reader: UpstreamResponseReader

  /// - Parameter clock: the clock that a date in `Retry-After` is compared with.
  package init(settings: UpstreamConfiguration, clock: WallClock, exchange: @escaping Exchange) {
    self.settings = settings
    self.exchange = exchange
    url = try? HTTPURL(settings.url)
    dialect = settings.dialect.implementation
    reader = UpstreamResponseReader(
      bytesMax: settings.responseBytesMax, depthMax: settings.responseDepthMax, clock: clock)
  }

  package convenience init(settings: UpstreamConfiguration, clock: WallClock, client: HTTPClient) {
    self.init(settings: settings, clock: clock) { request, limit throws(HTTPClientError) in
      try await client.execute(request, within: limit)
    }
  }

  /// Sends one operation and reads the response.
  package func execute(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    var body = operation.requestOpening
    body.append(contentsOf: variables.json.utf8)
    body.append(UInt8(ascii: "}"))
    var response = try await send(
      body, call, operation: operation.name, isSafeToRepeat: operation.kind == .query)
    // Data in a refusal is not stored, so it is not checked.
    guard let data = response.data, response.permission == nil else { return response }
    switch ResponseChecker.check(
      data, selection: operation.selection(for: variables), errors: ErrorPath.read(response.errors))
    {
    case .success(let hasSurplus):
      response.hasSurplus = hasSurplus
      return response
    case .failure(let breach):
      throw .malformed(status: response.status, reason: breach.phrase, excerpt: "")
    }
  }

  /// Requests the schema; the response is that of the introspection query, not parsed. Servers that
  /// reject the newest introspection query are sent older ones.
  package func introspect(call: UpstreamCall) async throws(UpstreamFailure) -> UpstreamResponse {
    var last: UpstreamResponse?
    for query in IntrospectionQuery.all {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("query")
      writer.string(query)
      writer.endObject()
      let response = try await send(
        writer.bytes, call, operation: "", isSafeToRepeat: true)
      if response.data != nil || response.permission != nil { return response }
      last = response
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
      isSafeToRepeat: isSafeToRepeat, responseBytesMax: settings.responseBytesMax,
      operation: operation)
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await exchange(request, call.timeout ?? settings.timeout)
    } catch {
      throw UpstreamFailure(error, bytesMax: settings.responseBytesMax)
    }
    return try reader.read(response)
  }

  // MARK: Headers

  /// The headers of a call. A user's credential is sent without the service's own. With the
  /// service's own, a caller's headers are sent only if they name no other authority and replace
  /// none of the service's.
  private func fields(of call: UpstreamCall) -> HTTPFields {
    var fields = HTTPFields()
    fields[.contentType] = "application/json"
    fields[.accept] = "application/graphql-response+json, application/json;q=0.9"
    var own: [UpstreamConfiguration.Header] = []
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
