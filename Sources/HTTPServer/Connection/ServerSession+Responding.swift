import HTTPTypes
import HTTPWire
import Traces
import Tracing
import Transport
import WebSockets

extension ServerSession {
  /// Starts the handler once the content that has arrived is in its channel.
  func startHandlerIfDue(on reactor: isolated Reactor) {
    guard let exchange, !exchange.isStarted, mayStart(exchange) else { return }
    self.exchange?.isStarted = true
    // The pace of reading the previous response does not count for this one.
    if stream.isFlushed { writePace = nil }
    let number = exchangeNumber
    let isRouted = exchange.termNumber == server.termNumber
    let request = isRouted ? exchange.request : exchange.request.unrouted
    if !isRouted { self.exchange?.request = request }
    let term = server.term
    let handler = server.handler
    term.requestBegan()
    let refusal = exchange.refusal.map { Self.refusalResponse($0, to: request, of: server) }
    let task = Task.immediate(executorPreference: reactor.loop) {
      let response: ServerResponse
      if let refusal {
        response = refusal
      } else if let trace = request.trace {
        response = await ServiceContext.withValue(trace.serviceContext) {
          await Self.respond(with: handler, to: request)
        }
      } else {
        response = await Self.respond(with: handler, to: request)
      }
      await self.deliver(response, for: request, number: number, on: reactor)
      term.requestEnded()
    }
    // There is nothing to cancel if the response is already complete.
    if exchangeNumber == number { self.exchange?.task = task }
  }

  /// Whether a request waits for no other handler.
  private func mayStart(_ exchange: ServerExchange) -> Bool {
    guard server.isHolding, exchange.refusal == nil else { return true }
    return server.shared.configuration.isAnsweredAlways(exchange.request.head)
  }

  private static func respond(
    with handler: any RequestHandler, to request: ServerRequest
  ) async -> ServerResponse {
    handler.isQuick && request.body.isShort
      ? await handler.respond(to: request) : await respondElsewhere(with: handler, to: request)
  }

  /// Runs a handler on the shared threads: reading long content, as JSON or for a digest, would block
  /// the loop's other connections.
  @concurrent
  private static func respondElsewhere(
    with handler: any RequestHandler, to request: ServerRequest
  ) async -> ServerResponse {
    await withTaskExecutorPreference(globalConcurrentExecutor) {
      await handler.respond(to: request)
    }
  }

  /// Sends a handler's response.
  private func deliver(
    _ response: ServerResponse, for request: ServerRequest, number: Int,
    on reactor: isolated Reactor
  ) async {
    guard number == exchangeNumber, stream.isOpen else { return }
    if case .webSocket(let upgrade) = response.body {
      return beginWebSocket(upgrade, response, for: request, on: reactor)
    }
    let preparation = ResponsePreparation(limits: limits, pool: server.shared.blockingPool)
    let prepared = await preparation.prepare(response, for: request, encoder: server.gzip)
    guard number == exchangeNumber, stream.isOpen else { return }
    switch connection.responseIsReady(isStreamed: prepared.isStreamed) {
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

  /// Keeps a response until the unwanted body has been read.
  func waitForBody(_ response: PreparedResponse) {
    exchange?.pendingResponse = response
    bodyPace = nil
    drainDeadline = stream.now + limits.drainDeadline
    readDeadline = stream.now + limits.drainPauseMax
    if bodyHeldSince.take() != nil { stream.resumeReading() }
  }

  /// Sends a response whose bytes are available.
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

  /// Sends the head, then calls the closure that writes the body piece by piece.
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
    exchange?.streamBegan = LoopClock.now()
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
      // The client relies on the announced length: it must see that the response is incomplete.
      guard contentBytesLeft ?? 0 == 0 else { return stream.reset() }
    } catch {
      if number == exchangeNumber, stream.isOpen { stream.reset() }
      return
    }
    if isChunked { ChunkEncoder.appendEnd(to: &server.output) }
    exchangeIsOver(on: reactor)
  }

  /// Writes content of a streamed response, and waits for a slow client.
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
      // A client as fast as its writer must not block the loop's other connections, and a disconnect
      // is noticed only between turns.
      unyieldedBytes = 0
      await Task.yield()
    }
    guard stream.isOpen else { throw .disconnected }
  }

  private static var unyieldedBytesMax: Int { 256 * 1024 }

  private func waitUntilDrained() async {
    await withCheckedContinuation { writer = $0 }
  }

  /// Handles the end of a response: next request, or the end of the connection.
  private func exchangeIsOver(on reactor: isolated Reactor) {
    exchange?.endSpan(names: server.names)
    if let exchange { noteResponse(exchange, on: reactor) }
    exchange = nil
    exchangeNumber += 1
    if !isTakingIn || server.output.count >= Self.outputBytesMax { flushOutput() }
    responseIsOut(on: reactor)
    // While bytes are being processed, the caller continues reading.
    if !isTakingIn { readOn(on: reactor) }
  }

  /// Performs the connection's next step after a response.
  func responseIsOut(on reactor: isolated Reactor) {
    drainDeadline = nil
    switch connection.responseEnded() {
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

  /// Continues with the bytes read ahead, then with reading.
  func readOn(on reactor: isolated Reactor) {
    guard stream.isOpen, !isHeldByOutput else { return }
    if !kept.isEmpty { takeInKept(on: reactor) }
    if kept.isEmpty, stream.isOpen, bodyHeldSince == nil, !isHeldByOutput { stream.resumeReading() }
    if stream.isOpen { armTimer() }
  }
}

extension ServerSession {
  /// Bytes buffered before they are sent, even within one turn.
  static let outputBytesMax = 64 * 1024

  /// Appends the head of a handler's response, and returns how its content is delimited.
  func appendHead(
    _ response: PreparedResponse, for request: ServerRequest, on reactor: isolated Reactor
  ) -> ResponseFraming {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    let framing = ResponseFraming.choose(
      status: response.status, length: response.length, minorVersion: request.head.minorVersion)
    if framing == .untilClose { connection.stopPersisting() }
    ResponseHeadFields.append(
      response, requestID: request.id, stamp: server.stamp, to: &server.output)
    exchange?.rate?.append(to: &server.output)
    framing.append(to: &server.output)
    switch connection.connectionField {
    case .none: break
    case .close: server.output.append("Connection: close\r\n")
    case .keepAlive: server.output.append("Connection: keep-alive\r\n")
    }
    server.output.appendLineEnd()
    return framing
  }

  /// Appends content to the buffer, or sends large content without a copy.
  func append(_ bytes: [UInt8]) {
    guard bytes.count >= Self.copyBytesMax else {
      server.output.append(contentsOf: bytes)
      return
    }
    server.tally.bytesSent += server.output.count + bytes.count
    stream.write(server.output, bytes)
    server.output.removeAll(keepingCapacity: true)
    watchWriting()
  }

  /// The size from which a vectored write is cheaper than a copy.
  private static var copyBytesMax: Int { 16 * 1024 }

  /// Sends a range of a file after the buffered bytes.
  func write(_ file: OpenFile, _ range: Range<Int>) {
    flushOutput()
    stream.write(file, offset: range.lowerBound, count: range.count)
    server.tally.bytesSent += range.count
    watchWriting()
  }

  func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
    if let webSocket { return webSocket.pump.drained() }
    writer.take()?.resume()
    if exchange == nil, !isTakingIn { readOn(on: reactor) }
  }

  /// Writes the buffered bytes to the socket.
  func flushOutput() {
    guard !server.output.isEmpty else { return }
    server.tally.bytesSent += server.output.count
    server.output.withUnsafeBytes { stream.write($0) }
    server.output.removeAll(keepingCapacity: true)
    watchWriting()
  }
}

extension ServerSession {
  /// Refuses a request that cannot be served; the connection closes afterwards.
  ///
  /// - Parameter head: the request's head, if it could be read and is not that of the exchange.
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
    sendRefusal(.refused(error), content, requestID: requestID, head: head, on: reactor)
  }

  /// Refuses a connection above the limit with a 503.
  func refuseForOverload(on reactor: isolated Reactor) {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    connection.stopPersisting()
    sendRefusal(
      .overloaded, nil, requestID: server.stamp.freshRequestID(), head: nil, on: reactor)
    armTimer()
  }

  private func sendRefusal(
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
    exchange?.endSpan(names: server.names, refusedWith: problem.status)
    noteRefused(
      problem.status, requestID: requestID, head: head, bytes: server.output.count - start,
      on: reactor)
    exchange = nil
    exchangeNumber += 1
    flushOutput()
    responseIsOut(on: reactor)
  }
}
