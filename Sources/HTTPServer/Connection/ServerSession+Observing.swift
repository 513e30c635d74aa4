import HTTPWire
import Transport

extension ServerSession {
  /// Counts an answer that was given at the first look. It is what the output ends with.
  func noteAnsweredAtOnce(from start: Int, on reactor: isolated Reactor) {
    server.tally.answered(Self.status(in: server.output, from: start))
    server.noteCounted(on: reactor)
  }

  /// Logs an answer that was given at the first look, which is what the output ends with.
  func logAnsweredAtOnce(
    _ method: RequestMethod, _ target: ArraySlice<UInt8>, from start: Int,
    client: ProxiedClient?, on reactor: isolated Reactor
  ) {
    let id = server.stamp.lastRequestIDRange
    // A handler that put no id into the answer leaves the range of an earlier one, or none.
    let requestID = id.lowerBound >= start ? server.output[id] : []
    log(
      method, target, status: Self.status(in: server.output, from: start),
      bytes: server.output.count - start, since: stream.now, requestID: requestID,
      from: client?.address, on: reactor)
  }

  /// Counts, and logs, a handler's answer.
  func noteAnswered(_ exchange: Exchange, on reactor: isolated Reactor) {
    server.tally.answered(exchange.status)
    server.noteCounted(on: reactor)
    guard server.isLogging else { return }
    let request = exchange.request
    log(
      request.head.method, request.head.target, status: exchange.status,
      bytes: exchange.bytesWritten,
      since: request.receivedAt, requestID: ArraySlice(request.id.utf8),
      from: request.clientAddress, on: reactor)
  }

  /// Counts, and logs, a refusal. Of a request that could not be read there is little to tell.
  func noteRefused(
    _ status: Int, requestID: String, head: RequestHead?, bytes: Int, on reactor: isolated Reactor
  ) {
    server.tally.answered(status)
    server.noteCounted(on: reactor)
    guard server.isLogging else { return }
    log(
      head?.method, head?.target ?? [], status: status, bytes: bytes,
      since: exchange?.request.receivedAt ?? stream.now,
      requestID: ArraySlice(requestID.utf8), from: exchange?.request.clientAddress, on: reactor)
  }

  private func log(
    _ method: RequestMethod?, _ target: ArraySlice<UInt8>, status: Int, bytes: Int,
    since start: LoopInstant, requestID: ArraySlice<UInt8>, from client: SocketAddress?,
    on reactor: isolated Reactor
  ) {
    server.log(
      AccessLogEntry(
        method: method, target: target, status: status, bytes: bytes,
        duration: LoopClock.now().elapsed(since: start), requestID: requestID,
        remoteAddress: client ?? stream.remoteAddress,
        date: HTTPDate(secondsSince1970: reactor.wallSeconds)))
  }

  /// The status of rendered bytes: the three digits behind `HTTP/1.1 `.
  private static func status(in output: [UInt8], from start: Int) -> Int {
    guard output.count >= start + 12 else { return 0 }
    return (start + 9..<start + 12).reduce(0) { $0 * 10 + Int(output[$1]) - 0x30 }
  }
}
