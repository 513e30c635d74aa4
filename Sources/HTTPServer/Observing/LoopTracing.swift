import HTTPWire
import Traces
import Tracing
import Transport

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
  ///   - nanoseconds: from the turn that read the request until now.
  ///   - facts: what the handler knew of the request.
  /// - Returns: the id of the request's trace; nil if it has none.
  func record(
    _ head: borrowing RequestHead, status: Int, nanoseconds: UInt64,
    requestID: ArraySlice<UInt8>, scheme: String, facts: RequestFacts, names: RequestNames
  ) -> TraceID? {
    let (parent, isSampled) = decide(head)
    guard isSampled else { return parent?.traceID }
    let end = tracer.now()
    let span = tracer.entry(
      head.method.name, kind: .server, parent: parent, isSampled: true,
      start: end - min(end, nanoseconds))
    span.describe(head, requestID: requestID.text, scheme: scheme)
    span.endResponse(
      status, to: head.method, facts: facts, names: names, atNanoseconds: end)
    return span.trace.traceID
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

  /// Ends the span of a request.
  ///
  /// - Parameters:
  ///   - status: nil if the connection closed before a response.
  ///   - facts: what the handler knew of the request.
  ///   - end: nanoseconds since 1970; now if nil.
  fileprivate func endResponse(
    _ status: Int?, to method: RequestMethod, facts: RequestFacts, names: RequestNames,
    atNanoseconds end: UInt64? = nil
  ) {
    if facts.route >= 0 {
      let route = names.route(facts.route)
      operationName = "\(method.name) \(route)"
      set("http.route", route)
    }
    if let operation = names.operation(facts.operation) { set("larder.operation", operation) }
    if let use = facts.cacheUse { set("larder.cache.outcome", use.name) }
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
  /// - Parameter refused: the status of a refusal; nil for the handler's response, if there was one.
  func endSpan(names: RequestNames, refusedWith refused: Int? = nil) {
    request.trace?.span?.endResponse(
      refused ?? (status == 0 ? nil : status), to: request.method, facts: request.facts,
      names: names)
  }
}

extension ServerSession {
  /// Records an immediate response, which is at the end of the output, if it is sampled.
  ///
  /// - Returns: the id of the request's trace; nil if it has none.
  func recordImmediateResponse(
    from start: Int, nanoseconds: UInt64, client: ProxiedClient?, by tracing: LoopTracing
  ) -> TraceID? {
    let id = server.stamp.lastRequestIDRange
    let requestID = id.lowerBound >= start ? server.output[id] : []
    let isSecure = client?.isSecure ?? stream.isSecure
    return connection.withHead { head in
      tracing.record(
        head, status: Self.status(in: server.output, from: start), nanoseconds: nanoseconds,
        requestID: requestID, scheme: isSecure ? "https" : "http", facts: server.stamp.facts,
        names: server.names)
    }
  }
}
