import HTTPWire
import Traces
import Transport

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
    let (parent, isSampled) = connection.withHead { tracing.decide($0) }
    // Nothing is made for all the others.
    guard isSampled else { return parent?.traceID }
    let id = server.stamp.lastRequestIDRange
    let requestID = id.lowerBound >= start ? server.output[id] : []
    let isSecure = client?.isSecure ?? stream.isSecure
    return connection.withHead { head in
      tracing.record(
        head, below: parent, status: Self.status(in: server.output, from: start),
        nanoseconds: nanoseconds, requestID: requestID, scheme: isSecure ? "https" : "http",
        facts: server.stamp.facts, names: server.names)
    }
  }
}
