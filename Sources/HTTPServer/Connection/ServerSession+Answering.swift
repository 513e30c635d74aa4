import HTTPTypes
import HTTPWire
import Transport

extension ServerSession {
  /// Starts the handler, once the content that has come is in its hands.
  func startHandlerIfDue(on reactor: isolated Reactor) {
    guard let exchange, !exchange.isStarted else { return }
    self.exchange?.isStarted = true
    // What the client earned by taking the last answer counts for that one.
    if stream.isFlushed { writePace = nil }
    let number = exchangeNumber
    let request = exchange.request
    let handler = server.handler
    let refusal = exchange.refusal.map { Self.answer($0, to: request, of: server) }
    let task = Task.immediate(executorPreference: reactor.loop) {
      let response: ServerResponse
      if let refusal {
        response = refusal
      } else if handler.isQuick, request.body.isShort {
        response = await handler.respond(to: request)
      } else {
        response = await Self.respondElsewhere(with: handler, to: request)
      }
      await self.deliver(response, for: request, number: number, on: reactor)
    }
    // Nothing is left to cancel if it has answered already.
    if exchangeNumber == number { self.exchange?.task = task }
  }

  /// Has a handler run on the shared threads: reading long content, as JSON or for a digest, would
  /// keep the loop from its other connections.
  @concurrent
  private static func respondElsewhere(
    with handler: any RequestHandler, to request: ServerRequest
  ) async -> ServerResponse {
    await withTaskExecutorPreference(globalConcurrentExecutor) {
      await handler.respond(to: request)
    }
  }

  /// Takes a handler's answer.
  private func deliver(
    _ response: ServerResponse, for request: ServerRequest, number: Int,
    on reactor: isolated Reactor
  ) async {
    guard number == exchangeNumber, stream.isOpen else { return }
    let preparation = ResponsePreparation(limits: limits, pool: server.shared.blockingPool)
    let prepared = await preparation.prepare(response, for: request, encoder: server.gzip)
    guard number == exchangeNumber, stream.isOpen else { return }
    switch connection.answerIsReady(isStreamed: prepared.isStreamed) {
    case .discard:
      break
    case .waitForBody:
      waitForBody(prepared)
    case .send:
      if case .stream(let length, let write) = prepared.body {
        await stream(prepared, length: length, write: write, number: number, on: reactor)
      } else {
        send(prepared, on: reactor)
      }
    }
    if !isTakingIn, stream.isOpen { armTimer() }
  }

  /// Keeps an answer until the body that nobody wanted has gone by.
  private func waitForBody(_ answer: PreparedResponse) {
    exchange?.waitingAnswer = answer
    bodyPace = nil
    drainDeadline = stream.now + limits.drainDeadline
    readDeadline = stream.now + limits.drainPauseMax
    if bodyHeldSince.take() != nil { stream.resumeReading() }
  }

  /// Sends an answer whose bytes are at hand.
  func send(_ response: PreparedResponse, on reactor: isolated Reactor) {
    guard let request = exchange?.request else { return }
    let start = server.output.count
    let framing = appendHead(response, for: request, on: reactor)
    let hasContent = request.method != .head && framing != .noContent
    exchange?.status = response.status
    switch response.body {
    case .bytes(let bytes) where hasContent:
      // Counted first: large content goes out at once, and the output is empty afterwards.
      exchange?.bytesWritten += server.output.count - start + bytes.count
      append(bytes)
    case .file(let file, let range) where hasContent:
      exchange?.bytesWritten += server.output.count - start + range.count
      write(file, range)
    case .none, .bytes, .stream, .file:
      exchange?.bytesWritten += server.output.count - start
    }
    exchangeIsOver(on: reactor)
  }

  /// Sends the head, then has the body written piece by piece.
  private func stream(
    _ response: PreparedResponse, length: Int?,
    write: @Sendable (inout ResponseWriter) async throws -> Void, number: Int,
    on reactor: isolated Reactor
  ) async {
    guard let request = exchange?.request else { return }
    let start = server.output.count
    let framing = appendHead(response, for: request, on: reactor)
    exchange?.status = response.status
    exchange?.bytesWritten += server.output.count - start
    guard request.method != .head, framing != .noContent else {
      return exchangeIsOver(on: reactor)
    }
    flushOutput()
    isChunked = framing == .chunked
    contentBytesLeft = length
    do {
      var writer = ResponseWriter(session: self)
      try await write(&writer)
      guard number == exchangeNumber, stream.isOpen else { return }
      // The client counts on what was announced: it must see that the answer is not whole.
      guard contentBytesLeft ?? 0 == 0 else { return stream.reset() }
    } catch {
      if number == exchangeNumber, stream.isOpen { stream.reset() }
      return
    }
    if isChunked { ChunkEncoder.appendEnd(to: &server.output) }
    exchangeIsOver(on: reactor)
  }

  /// Writes content of a streamed answer, and waits while the client lags.
  func writeContent(_ bytes: [UInt8]) async throws(ResponseWriter.Fault) {
    guard stream.isOpen, !Task.isCancelled else { throw .disconnected }
    if bytes.isEmpty { return }
    if let left = contentBytesLeft {
      guard bytes.count <= left else { throw .tooMuch }
      contentBytesLeft = left - bytes.count
    }
    if isChunked { ChunkEncoder.appendHead(count: bytes.count, to: &server.output) }
    append(bytes)
    if isChunked { ChunkEncoder.appendTail(to: &server.output) }
    exchange?.bytesWritten += bytes.count
    flushOutput()
    armTimer()
    unyieldedBytes += bytes.count
    if stream.isBackedUp {
      await waitUntilDrained()
      unyieldedBytes = 0
    } else if unyieldedBytes >= Self.unyieldedBytesMax {
      // A client as fast as its writer must not keep the loop from all others, and that a client is
      // gone is noticed only between turns.
      unyieldedBytes = 0
      await Task.yield()
    }
    guard stream.isOpen else { throw .disconnected }
  }

  private static var unyieldedBytesMax: Int { 256 * 1024 }

  private func waitUntilDrained() async {
    await withCheckedContinuation { writer = $0 }
  }

  /// The answer has been handed over whole: next request, or the connection's end.
  private func exchangeIsOver(on reactor: isolated Reactor) {
    if let exchange { noteAnswered(exchange, on: reactor) }
    exchange = nil
    exchangeNumber += 1
    if !isTakingIn || server.output.count >= Self.outputBytesMax { flushOutput() }
    answerIsOut(on: reactor)
    // Reading on is the caller's business while it is taking bytes in.
    if !isTakingIn { readOn(on: reactor) }
  }

  /// Performs what the connection's state wants after an answer.
  func answerIsOut(on reactor: isolated Reactor) {
    drainDeadline = nil
    switch connection.answerEnded() {
    case .nextRequest:
      awaitNextRequest()
    case .drain:
      bodyPace = nil
      drainDeadline = stream.now + limits.drainDeadline
      readDeadline = stream.now + limits.drainPauseMax
      if bodyHeldSince.take() != nil { stream.resumeReading() }
    case .linger where !hasPeerEnded:
      flushOutput()
      stream.shutDownWriting()
      readDeadline = stream.now + limits.lingerDeadline
      bodyPace = nil
      if bodyHeldSince.take() != nil { stream.resumeReading() }
    case .linger, .close:
      flushOutput()
      stream.close()
      watchClosing()
    }
  }

  func awaitNextRequest() {
    let now = stream.now
    idleSince = now
    readDeadline = now.advanced(byNanoseconds: server.idleNanoseconds)
  }

  /// Goes on with what was read ahead, and with reading.
  func readOn(on reactor: isolated Reactor) {
    guard stream.isOpen, !isHeldByOutput else { return }
    if !kept.isEmpty { takeInKept(on: reactor) }
    if kept.isEmpty, stream.isOpen, bodyHeldSince == nil, !isHeldByOutput { stream.resumeReading() }
    if stream.isOpen { armTimer() }
  }
}
