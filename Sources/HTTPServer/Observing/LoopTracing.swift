import HTTPWire
import Traces
import Tracing
import Transport

/// What a handler knows of an immediate response, for its span.
package struct TracedResponse: Sendable {
  /// The pattern of the route, such as `/api/films/{id}`; nil if none matches.
  package var route: String?
  /// The operation that was read; nil for other routes.
  package var operation: String?
  /// How the response was obtained, in one word.
  package var cacheOutcome: String?

  package init(route: String? = nil, operation: String? = nil, cacheOutcome: String? = nil) {
    self.route = route
    self.operation = operation
    self.cacheOutcome = cacheOutcome
  }
}

/// The tracing of the requests of one loop.
///
/// Whether an immediate response is recorded is decided from its `traceparent` and a cheap random number,
/// before anything is made for its span.
final class LoopTracing {
  private let tracer: SpanTracer
  private var dice: SamplingDice

  init(_ tracer: SpanTracer, seed: UInt64) {
    self.tracer = tracer
    dice = SamplingDice(seed: seed)
  }

  /// The decision about one request.
  private func decide(
    _ head: borrowing RequestHead
  ) -> (parent: TraceContext?, isSampled: Bool) {
    if let parent = TraceContext(of: head) { return (parent, parent.isSampled) }
    return (nil, tracer.ratio.includes(dice.roll()))
  }

  /// Starts the span of a request that is passed to the handler.
  ///
  /// - Parameter requestID: for the request's log lines.
  /// - Returns: the trace of the request's work, which has no span if it is not recorded.
  func begin(
    _ head: borrowing RequestHead, requestID: String, scheme: String
  ) -> ActiveTrace {
    let (parent, isSampled) = decide(head)
    guard isSampled else {
      return ActiveTrace(parent ?? tracer.root(isSampled: false), tracer: tracer)
    }
    let span = tracer.entry(head.method.name, kind: .server, parent: parent, isSampled: true)
    span.describe(head, requestID: requestID, scheme: scheme)
    return span.active
  }

  /// Records an immediate response that is sampled.
  ///
  /// - Parameters:
  ///   - duration: from the turn that read the request until now.
  ///   - response: called only for the few requests that are recorded.
  func record(
    _ head: borrowing RequestHead, status: Int, duration: Duration, requestID: ArraySlice<UInt8>,
    scheme: String, response: (borrowing RequestHead) -> TracedResponse
  ) {
    let (parent, isSampled) = decide(head)
    guard isSampled else { return }
    let end = tracer.now()
    let elapsed = LoopInstant.nanoseconds(in: duration)
    let span = tracer.entry(
      head.method.name, kind: .server, parent: parent, isSampled: true,
      start: end - min(end, elapsed))
    span.describe(head, requestID: requestID.text, scheme: scheme)
    let response = response(head)
    if let route = response.route { span.setRoute(route, method: head.method) }
    if let operation = response.operation { span.set("larder.operation", operation) }
    if let outcome = response.cacheOutcome { span.set("larder.cache.outcome", outcome) }
    span.endResponse(status, atNanoseconds: end)
  }
}

extension TraceContext {
  /// Reads the fields of a request; nil without a valid `traceparent`, or with several.
  init?(of head: borrowing RequestHead) {
    // Most requests have none, and asking for the first value allocates nothing.
    guard head["traceparent"] != nil else { return nil }
    let fields = head.fields
    self.init(parents: fields.values("traceparent"), states: fields.values("tracestate"))
  }
}

extension TraceSpan {
  /// Notes what is known of a request at its start, by the names of OpenTelemetry's conventions for HTTP.
  ///
  /// Neither the query string, which can contain tickets and signatures, nor any field or address of the
  /// client is recorded.
  fileprivate func describe(
    _ head: borrowing RequestHead, requestID: String, scheme: String
  ) {
    set("http.request.method", head.method.name)
    set("url.path", head.path.text)
    set("url.scheme", scheme)
    set("network.protocol.version", head.minorVersion == 0 ? "1.0" : "1.1")
    if !requestID.isEmpty { set("larder.request.id", requestID) }
    guard let authority = head.authority?.text ?? head["host"]?.text else { return }
    let parts = Self.hostAndPort(of: authority)
    set("server.address", parts.host)
    if let port = parts.port { set("server.port", port) }
  }

  /// - Parameter route: the pattern that matched.
  func setRoute(_ route: String, method: RequestMethod) {
    operationName = "\(method.name) \(route)"
    set("http.route", route)
  }

  /// Ends the span of a request.
  ///
  /// - Parameters:
  ///   - status: nil if the connection closed before a response.
  ///   - end: nanoseconds since 1970; now if nil.
  func endResponse(_ status: Int?, atNanoseconds end: UInt64? = nil) {
    if let status {
      set("http.response.status_code", status)
      // A client's mistakes are no failure of the server.
      if status >= 500 { fail("\(status)") }
    } else {
      fail("disconnected")
    }
    if let end { self.end(atNanoseconds: end) } else { self.end() }
  }

  private static func hostAndPort(of authority: String) -> (host: String, port: Int?) {
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]"),
      let port = Int(authority[authority.index(after: colon)...])
    else { return (authority, nil) }
    return (String(authority[..<colon]), port)
  }
}

extension ServerExchange {
  /// Ends the span of the request, if it is recorded.
  ///
  /// - Parameter status: that of a refusal; otherwise that of the handler's response, if there was one.
  func endSpan(status refused: Int? = nil) {
    request.trace?.span?.endResponse(refused ?? (status == 0 ? nil : status))
  }
}

extension ServerSession {
  /// Records an immediate response, which is at the end of the output, if it is sampled.
  func recordImmediateResponse(
    _ content: UnsafeRawBufferPointer, from start: Int, client: ProxiedClient?,
    by tracing: LoopTracing
  ) {
    let id = server.stamp.lastRequestIDRange
    let requestID = id.lowerBound >= start ? server.output[id] : []
    let isSecure = client?.isSecure ?? stream.isSecure
    connection.withHead { head in
      tracing.record(
        head, status: Self.status(in: server.output, from: start),
        duration: LoopClock.now().elapsed(since: stream.now), requestID: requestID,
        scheme: isSecure ? "https" : "http"
      ) { server.handler.describe($0, content: content) }
    }
  }
}
