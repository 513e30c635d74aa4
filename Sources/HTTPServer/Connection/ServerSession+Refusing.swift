import HTTPWire
import Transport

extension ServerSession {
  /// Answers a request that cannot be served, once, and lets the connection end.
  func refuse(_ error: RequestError, on reactor: isolated Reactor) {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    let requestID = exchange?.request.id ?? server.stamp.freshRequestID()
    exchange?.channel?.finish(error == .contentTooLarge ? .tooLarge(bytesMax: 0) : .refused(error))
    exchange?.task?.cancel()
    answer(.refused(error), requestID: requestID, on: reactor)
  }

  /// Tells a connection above the cap to come again.
  func refuseForOverload(on reactor: isolated Reactor) {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    connection.stopPersisting()
    answer(.overloaded, requestID: server.stamp.freshRequestID(), on: reactor)
    armTimer()
  }

  private func answer(
    _ problem: ServerProblem, requestID: String, on reactor: isolated Reactor
  ) {
    let body = server.shared.configuration.problemRenderer.render(problem, requestID: requestID)
    let start = server.output.count
    StatusLine.append(problem.status, to: &server.output)
    server.stamp.appendDate(to: &server.output)
    server.output.appendField("Request-Id", requestID.utf8)
    server.output.append("X-Content-Type-Options: nosniff\r\n")
    server.output.append("Cache-Control: no-store\r\n")
    server.output.append("Content-Type: application/problem+json\r\n")
    if case .overloaded = problem {
      server.output.appendField("Retry-After", decimal: limits.retryAfterSeconds)
    }
    server.output.appendField("Content-Length", decimal: body.count)
    server.output.append("Connection: close\r\n\r\n")
    if !isKnownHead { server.output.append(contentsOf: body) }
    noteRefused(
      problem.status, requestID: requestID, bytes: server.output.count - start, on: reactor)
    exchange = nil
    exchangeNumber += 1
    flushOutput()
    answerIsOut(on: reactor)
  }

  /// Whether the request that is refused is a HEAD, whose answer has no content.
  private var isKnownHead: Bool { exchange?.request.method == .head }
}
