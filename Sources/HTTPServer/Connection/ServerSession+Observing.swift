import HTTPWire
import Transport

extension ServerSession {
  /// Counts, and logs, an answer that was given at the first look.
  func noteAnsweredAtOnce(from start: Int, on reactor: isolated Reactor) {
    let status = Self.status(in: server.output[start...])
    server.tally.answered(status)
    server.noteCounted(on: reactor)
    guard let log = server.shared.configuration.accessLog else { return }
    connection.withHead { head in
      log.record(
        AccessLogEntry(
          method: head.method.name, target: LoggedTarget.text(head.target), status: status,
          bytes: server.output.count - start, duration: .zero,
          requestID: String(decoding: server.stamp.lastRequestID, as: UTF8.self),
          remoteAddress: stream.remoteAddress))
    }
  }

  /// Counts, and logs, a handler's answer.
  func noteAnswered(_ exchange: Exchange, on reactor: isolated Reactor) {
    server.tally.answered(exchange.status)
    server.noteCounted(on: reactor)
    guard let log = server.shared.configuration.accessLog else { return }
    log.record(
      AccessLogEntry(
        method: exchange.request.method.name,
        target: LoggedTarget.text(exchange.request.head.target), status: exchange.status,
        bytes: exchange.bytesWritten,
        duration: LoopClock.now().elapsed(since: exchange.request.receivedAt),
        requestID: exchange.request.id, remoteAddress: stream.remoteAddress))
  }

  /// Counts, and logs, a refusal. Of a request that could not be read there is little to tell.
  func noteRefused(
    _ status: Int, requestID: String, head: RequestHead?, bytes: Int, on reactor: isolated Reactor
  ) {
    server.tally.answered(status)
    server.noteCounted(on: reactor)
    guard let log = server.shared.configuration.accessLog else { return }
    log.record(
      AccessLogEntry(
        method: head?.method.name ?? "-", target: head.map { LoggedTarget.text($0.target) } ?? "-",
        status: status, bytes: bytes, duration: .zero, requestID: requestID,
        remoteAddress: stream.remoteAddress))
  }

  /// The status of rendered bytes: the three digits behind `HTTP/1.1 `.
  private static func status(in response: ArraySlice<UInt8>) -> Int {
    response.dropFirst(9).prefix(3).reduce(0) { $0 * 10 + Int($1) - 0x30 }
  }
}
