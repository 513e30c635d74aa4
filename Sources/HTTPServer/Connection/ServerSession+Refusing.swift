import HTTPWire
import Transport

extension ServerSession {
  /// Answers a request that cannot be served, once, and lets the connection end.
  ///
  /// - Parameter head: if it could be read and is not that of the exchange.
  func refuse(_ error: RequestError, head: RequestHead? = nil, on reactor: isolated Reactor) {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    let head = exchange?.request.head ?? head
    let requestID =
      exchange?.request.id ?? head.map { server.stamp.requestID(for: $0) }
      ?? server.stamp.freshRequestID()
    exchange?.channel?.finish(error == .contentTooLarge ? .tooLarge(bytesMax: 0) : .refused(error))
    exchange?.task?.cancel()
    let content = server.handler.refusal(
      of: error, path: connection.withHead { $0.path }, requestID: requestID)
    answer(.refused(error), content, requestID: requestID, head: head, on: reactor)
  }

  /// Tells a connection above the cap to come again.
  func refuseForOverload(on reactor: isolated Reactor) {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    connection.stopPersisting()
    answer(.overloaded, nil, requestID: server.stamp.freshRequestID(), head: nil, on: reactor)
    armTimer()
  }

  private func answer(
    _ problem: ServerProblem, _ content: RefusalContent?, requestID: String, head: RequestHead?,
    on reactor: isolated Reactor
  ) {
    let content =
      content
      ?? RefusalContent(
        mediaType: "application/problem+json",
        bytes: problem.document(path: head?.path.text, requestID: requestID))
    let start = server.output.count
    StatusLine.append(problem.status, to: &server.output)
    server.stamp.appendDate(to: &server.output)
    server.output.appendField("Request-Id", requestID.utf8)
    server.output.append("X-Content-Type-Options: nosniff\r\n")
    server.output.append("Cache-Control: no-store\r\n")
    server.output.appendField("Content-Type", content.mediaType.utf8)
    if case .overloaded = problem {
      server.output.appendField("Retry-After", decimal: limits.retryAfterSeconds)
    }
    server.output.appendField("Content-Length", decimal: content.bytes.count)
    server.output.append("Connection: close\r\n\r\n")
    if head?.method != .head { server.output.append(contentsOf: content.bytes) }
    noteRefused(
      problem.status, requestID: requestID, head: head, bytes: server.output.count - start,
      on: reactor)
    exchange = nil
    exchangeNumber += 1
    flushOutput()
    answerIsOut(on: reactor)
  }
}
