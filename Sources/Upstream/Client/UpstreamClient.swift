import GraphQL
package import HTTPClient
import HTTPTypes
package import LosslessJSON
package import Model
import Traces
import Tracing
import Transport

/// Executes operations on one upstream.
package final class UpstreamClient: Sendable {
  /// Sends one request with a timeout; `HTTPClient.execute`, or a script in tests.
  package typealias Exchange =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  /// Returns how long requests of an operation are refused without being sent; nil if they are not.
  /// `HTTPClient.refusal`, or a script in tests.
  package typealias Refusal = @Sendable (HTTPURL, _ operation: String) -> Duration?

  package let settings: UpstreamConfiguration
  private let exchange: Exchange
  private let refusal: Refusal
  /// Nil in tests that script the exchange.
  private let client: HTTPClient?
  /// Nil if the configured URL is invalid.
  private let url: HTTPURL?
  private let reader: UpstreamResponseReader
  private let persisted = PersistedDocuments()
  private let meters: UpstreamMeters

  /// - Parameter clock: the clock that a date in `Retry-After` is compared with.
  package convenience init(
    settings: UpstreamConfiguration, clock: WallClock,
    refusal: @escaping Refusal = { _, _ in nil }, exchange: @escaping Exchange
  ) {
    self.init(
      settings: settings, clock: clock, client: nil, refusal: refusal, exchange: exchange)
  }

  private init(
    settings: UpstreamConfiguration, clock: WallClock, client: HTTPClient?,
    refusal: @escaping Refusal, exchange: @escaping Exchange
  ) {
    self.settings = settings
    self.exchange = exchange
    self.client = client
    self.refusal = refusal
    meters = UpstreamMeters(upstream: settings.name.text)
    url = try? HTTPURL(settings.url)
    reader = UpstreamResponseReader(
      bytesMax: settings.responseBytesMax, depthMax: settings.responseDepthMax, clock: clock)
  }

  package convenience init(settings: UpstreamConfiguration, clock: WallClock, client: HTTPClient) {
    self.init(
      settings: settings, clock: clock, client: client,
      refusal: { url, operation in client.refusal(of: operation, to: url) },
      exchange: { request, limit throws(HTTPClientError) in
        try await client.execute(request, within: limit)
      })
  }

  /// The scheme, host and port of the endpoint; nil if its URL is invalid.
  package var origin: String? { url.map { "\($0.origin)" } }

  /// The circuit breakers of its calls; nil before the first call.
  /// The operations are those whose own breaker is not closed, in alphabetical order.
  package var breakers: (state: String, operations: [String])? {
    url.flatMap { client?.breakers(of: $0.origin) }.map { ($0.origin.rawValue, $0.operations) }
  }

  /// The client of an upstream that is not in the settings; its calls fail without being sent.
  package static var unconfigured: UpstreamClient {
    UpstreamClient(
      settings: UpstreamConfiguration(url: ""), clock: WallClock { Timestamp(milliseconds: 0) }
    ) { _, _ throws(HTTPClientError) in
      throw .invalidRequest("the upstream is not configured")
    }
  }

  /// Returns how long the circuit breaker refuses calls of an operation from now on; nil if a call would
  /// be sent.
  package func refusal(of operation: RegisteredOperation) -> Duration? {
    url.flatMap { refusal($0, operation.name) }
  }

  /// Sends one operation and reads the response.
  package func execute(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    let isPublic = operation.kind == .query && !operation.sendsCallersCredential
    return try accepted(
      try await exchange(operation, variables: variables, call: call), call, isPublic: isPublic
    ).checked(against: operation.selection(for: variables))
  }

  /// Returns the response, marked if upstream accepted the service's own credential; throws if it refused
  /// it.
  private func accepted(
    _ response: UpstreamResponse, _ call: UpstreamCall, isPublic: Bool
  ) throws(UpstreamFailure) -> UpstreamResponse {
    if let refusal = settings.refusal(in: response, of: call, isPublic: isPublic) {
      let failure = UpstreamFailure.serviceRefused(refusal)
      meters.note(failure: failure)
      throw failure
    }
    var response = response
    response.acceptsService = settings.usesOwnCredential(call)
    return response
  }

  /// Sends the document by hash if settings and upstream allow it, otherwise as text.
  private func exchange(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    let openings = operation.requestOpenings
    func sent(_ opening: [UInt8]) async throws(UpstreamFailure) -> UpstreamResponse {
      try await send(
        opening + Array(variables.json.utf8) + [UInt8(ascii: "}")], call,
        operation: operation.name, isSafeToRepeat: operation.kind == .query)
    }
    let name = operation.name
    guard settings.documents == .hash, persisted.isInUse(for: name) else {
      return try await sent(openings.text)
    }
    let response: UpstreamResponse
    do {
      response = try await sent(openings.hash)
    } catch {
      // Servers without this extension miss the document, and say so in their own way.
      guard case .status(400, _) = error else { throw error }
      let response = try await sent(openings.both)
      persisted.noteMisunderstanding(of: name)
      return response
    }
    guard let objection = PersistedDocuments.objection(in: response) else {
      guard response.kind == .requestError, response.permission == nil, !persisted.isKnown(name)
      else {
        persisted.noteSuccess(of: name)
        return response
      }
      // It may miss the document and say so in its own words; it has executed nothing.
      let second = try await sent(openings.both)
      if second.kind != .requestError { persisted.noteMisunderstanding(of: name) }
      return second
    }
    persisted.note(objection, of: name)
    return try await sent(objection == .unknown ? openings.both : openings.text)
  }

  /// Sends a document that is not registered, and reads the response without checking its data.
  ///
  /// - Parameter variables: a JSON object; nil without one.
  package func execute(
    text: String, operationName: String?, variables: JSONValue?, isSafeToRepeat: Bool,
    call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    var body: [JSONMember] = [JSONMember("query", .string(text))]
    if let operationName { body.append(JSONMember("operationName", .string(operationName))) }
    if let variables { body.append(JSONMember("variables", variables)) }
    let response = try await send(
      JSONValue.object(body).bytes, call, operation: "", isSafeToRepeat: isSafeToRepeat)
    return try accepted(response, call, isPublic: false)
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
    var request = HTTPClientRequest(
      method: .post, url: url, fields: requestFields(of: call), body: body,
      isSafeToRepeat: isSafeToRepeat, responseBytesMax: settings.responseBytesMax,
      operation: operation)
    return try await CurrentTrace.within("POST", kind: .client) { span throws(UpstreamFailure) in
      span?.describe(request)
      CurrentTrace.active?.context.inject { request.fields.append($0, $1) }
      do throws(UpstreamFailure) {
        return try await send(
          request, of: operation, within: call.timeout ?? settings.timeout, span: span)
      } catch {
        span?.fail(error.name)
        throw error
      }
    }
  }

  private func send(
    _ request: HTTPClientRequest, of operation: String, within limit: Duration, span: TraceSpan?
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    let began = LoopClock.now()
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await exchange(request, limit)
      span?.note(response)
      meters.note(LoopClock.now().elapsed(since: began), of: operation)
    } catch {
      if error.wasTried { meters.note(LoopClock.now().elapsed(since: began), of: operation) }
      let failure = UpstreamFailure(error, bytesMax: settings.responseBytesMax)
      meters.note(error, failure)
      throw failure
    }
    do throws(UpstreamFailure) {
      let read = try reader.read(response)
      if read.kind != .success { meters.note(.graphQLErrors) }
      return read
    } catch {
      meters.note(failure: error)
      throw error
    }
  }

  private func requestFields(of call: UpstreamCall) -> HTTPFields {
    var fields = CallHeaders(call, settings: settings).fields
    fields[.contentType] = "application/json"
    fields[.accept] = "application/graphql-response+json, application/json;q=0.9"
    if let key = call.idempotencyKey { fields.append("Idempotency-Key", key) }
    return fields
  }
}
