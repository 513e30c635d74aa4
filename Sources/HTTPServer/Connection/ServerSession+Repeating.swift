import HTTPWire
import Transport

extension ServerSession {
  /// Answers input that is, byte for byte, a request answered before. Returns whether it did.
  ///
  /// Nothing but these bytes may have a say in the answer, so neither the client's address (rates,
  /// proxies) nor what came before on the connection.
  func answerRepeated(_ input: UnsafeRawBufferPointer, on reactor: isolated Reactor) -> Bool {
    guard exchange == nil, connection.canPassRepeated, !mayEndHere, !isProxied,
      server.rates == nil, !isHeldByOutput, let known = server.repeated.find(input)
    else { return false }
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    server.stamp.forgetRequestID()
    guard known.answer.write(stamp: server.stamp, into: &server.output) else {
      server.repeated.forget(known)
      return false
    }
    connection.passedRepeated()
    noteAnsweredAtOnce(from: 0, on: reactor)
    if server.isLogging {
      logAnsweredAtOnce(known.method, known.target, from: 0, client: nil, on: reactor)
    }
    flushOutput()
    awaitNextRequest()
    if isHeldByOutput { stream.pauseReading() }
    armTimer()
    return true
  }

  /// Takes note of a request that came in one piece and was answered at the first look.
  func noteRepeatable(_ bytes: UnsafeRawBufferPointer) {
    server.repeated.note(bytes) {
      connection.withHead { head in
        guard bytes.count == head.fields.bytes.count else { return nil }
        return server.handler.repeatableAnswer(to: head).map { KnownRequest(head, answer: $0) }
      }
    }
  }
}
