import HTTPWire
import Traces
import Transport

/// Counting and logging of responses.
extension ServerSession {
  /// Counts an immediate response, which is at the end of the output.
  ///
  /// - Returns: the duration of the request in nanoseconds.
  func noteImmediateResponse(
    _ method: RequestMethod, from start: Int, on reactor: isolated Reactor
  ) -> UInt64 {
    let nanoseconds = Self.nanoseconds(since: stream.now)
    server.tally.count(
      server.stamp.facts, method: method, status: Self.status(in: server.output, from: start),
      nanoseconds: nanoseconds, sent: server.output.count - start)
    server.noteCounted(on: reactor)
    return nanoseconds
  }

  /// Logs an immediate response, which is at the end of the output.
  func logImmediateResponse(
    _ head: borrowing RequestHead, from start: Int, nanoseconds: UInt64, client: ProxiedClient?,
    trace: TraceID?, on reactor: isolated Reactor
  ) {
    let id = server.stamp.lastRequestIDRange
    // A handler that wrote no id leaves the range of an earlier one, or none.
    let requestID = id.lowerBound >= start ? server.output[id] : []
    server.log(
      AccessLogEntry(
        method: head.method, target: head.target,
        status: Self.status(in: server.output, from: start), bytes: server.output.count - start,
        nanoseconds: nanoseconds, requestID: requestID,
        remoteAddress: client?.address ?? stream.remoteAddress, time: LoopClock.wallTime(),
        facts: LoggedFacts(server.stamp.facts, names: server.names),
        traceID: (trace ?? TraceContext(of: head)?.traceID)?.bytes ?? [],
        userAgent: head["user-agent"] ?? []))
  }

  /// Counts and logs a handler's response.
  func noteResponse(_ exchange: ServerExchange, on reactor: isolated Reactor) {
    if exchange.eventStallMax != nil { server.shared.counters.eventStreamClosed() }
    let request = exchange.request
    let facts = request.facts
    let nanoseconds = Self.nanoseconds(since: request.receivedAt)
    server.tally.count(
      facts, method: request.method, status: exchange.status,
      nanoseconds: exchange.eventStallMax == nil
        ? nanoseconds : Self.nanoseconds(since: request.receivedAt, until: exchange.streamBegan),
      received: exchange.bytesRead, sent: exchange.bytesWritten)
    server.noteCounted(on: reactor)
    guard server.isLogging else { return }
    server.log(
      AccessLogEntry(
        method: request.method, target: request.head.target, status: exchange.status,
        bytes: exchange.bytesWritten, nanoseconds: nanoseconds,
        requestID: ArraySlice(request.id.utf8), remoteAddress: request.clientAddress,
        time: LoopClock.wallTime(), facts: LoggedFacts(facts, names: server.names),
        traceID: request.trace?.context.traceID.bytes ?? [],
        userAgent: request.head["user-agent"] ?? []))
  }

  /// Counts and logs a refusal. Little is known about a request that could not be read.
  func noteRefused(
    _ status: Int, requestID: String, head: RequestHead?, bytes: Int, on reactor: isolated Reactor
  ) {
    let facts = exchange?.request.facts ?? RequestFacts()
    let nanoseconds = Self.nanoseconds(since: exchange?.request.receivedAt ?? stream.now)
    server.tally.count(
      facts, method: head?.method, status: status, nanoseconds: nanoseconds,
      received: exchange?.bytesRead ?? 0, sent: bytes)
    server.noteCounted(on: reactor)
    guard server.isLogging else { return }
    server.log(
      AccessLogEntry(
        method: head?.method, target: head?.target ?? [], status: status, bytes: bytes,
        nanoseconds: nanoseconds, requestID: ArraySlice(requestID.utf8),
        remoteAddress: exchange?.request.clientAddress ?? stream.remoteAddress,
        time: LoopClock.wallTime(), facts: LoggedFacts(facts, names: server.names),
        traceID: exchange?.request.trace?.context.traceID.bytes ?? [],
        userAgent: head?["user-agent"] ?? []))
  }

  private static func nanoseconds(
    since start: LoopInstant, until end: LoopInstant = LoopClock.now()
  ) -> UInt64 {
    end.nanoseconds &- min(end.nanoseconds, start.nanoseconds)
  }

  /// The status in a rendered response: the three digits after `HTTP/1.1 `.
  static func status(in output: [UInt8], from start: Int) -> Int {
    guard output.count >= start + 12 else { return 0 }
    return (start + 9..<start + 12).reduce(0) { $0 * 10 + Int(output[$1]) - 0x30 }
  }
}
