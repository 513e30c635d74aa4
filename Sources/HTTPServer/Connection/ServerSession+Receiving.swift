import HTTPWire
import Transport

extension ServerSession {
  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {
    server.tally.bytesReceived += bytes.count
    if kept.isEmpty {
      takeIn(bytes, on: reactor)
    } else {
      kept.append(contentsOf: bytes)
      takeInKept(on: reactor)
    }
  }

  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
    hasPeerEnded = true
    switch connection.endOfInput() {
    case .finishAnswer:
      break
    case .endContent:
      contentEnded(.incomplete, on: reactor)
    case .close:
      stream.close()
      watchClosing()
    }
  }

  func takeInKept(on reactor: isolated Reactor) {
    let input = kept
    kept = []
    input.withUnsafeBytes { takeIn($0, on: reactor) }
  }

  /// Takes in bytes as far as the connection's state allows, and keeps the rest.
  func takeIn(_ input: UnsafeRawBufferPointer, on reactor: isolated Reactor) {
    isTakingIn = true
    var offset = 0
    var goesOn = true
    while goesOn, stream.isOpen, !isHeldByOutput {
      goesOn = takeNext(input, from: &offset, on: reactor)
    }
    isTakingIn = false
    flushOutput()
    guard stream.isOpen else { return }
    if let drainDeadline { readDeadline = min(drainDeadline, stream.now + limits.drainPauseMax) }
    if offset < input.count { kept = Array(input[offset...]) }
    if offset < input.count || isHeldByOutput { stream.pauseReading() }
    armTimer()
  }

  /// Whether the next request waits for the client to take the answers it has: otherwise requests
  /// sent without reading would fill this process's memory.
  var isHeldByOutput: Bool { stream.isBackedUp && exchange == nil }

  /// Takes one event out of the input. Returns whether there may be another.
  private func takeNext(
    _ input: UnsafeRawBufferPointer, from offset: inout Int, on reactor: isolated Reactor
  ) -> Bool {
    switch connection.next(input, from: &offset) {
    case .needMore:
      if connection.isInsideHead { noteHeadBegan() }
      startHandlerIfDue(on: reactor)
      return false
    case .pause:
      startHandlerIfDue(on: reactor)
      // A handler that answered at once has made room for what follows.
      return exchange == nil
    case .request:
      requestBegan(on: reactor)
      return true
    case .content(let range):
      takeContent(input[range], on: reactor)
      return true
    case .endOfRequest:
      contentEnded(nil, on: reactor)
      return true
    case .ignored:
      return true
    case .close:
      stream.close()
      watchClosing()
      return false
    case .refuse(let error):
      refuse(error, on: reactor)
      return true
    }
  }

  private func noteHeadBegan() {
    guard idleSince != nil else { return }
    idleSince = nil
    readDeadline = stream.now + limits.headDeadline
  }

  /// Whether the connection is to end with the next answer.
  var mayEndHere: Bool {
    server.isDraining || stream.now > openedAt.advanced(byNanoseconds: server.ageNanosecondsMax)
  }

  private func requestBegan(on reactor: isolated Reactor) {
    idleSince = nil
    readDeadline = nil
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    server.stamp.forgetRequestID()
    if mayEndHere { connection.stopPersisting() }
    let client = isProxied ? proxiedClient() : nil
    let rate = judgeRate(of: client, on: reactor)
    if rate?.isAllowed ?? true, answerAtOnce(for: client, on: reactor) { return }
    beginExchange(for: client, rate: rate, on: reactor)
  }

  /// Gives the handler its first look. Returns whether it answered.
  private func answerAtOnce(for client: ProxiedClient?, on reactor: isolated Reactor) -> Bool {
    guard connection.persists else { return false }
    let start = server.output.count
    let hasAnswered = connection.withHead { head in
      guard head.minorVersion == 1, !head.hasBody, !head.asksForUpgrade else { return false }
      return server.handler.answerAtOnce(
        head, stamp: server.stamp, into: &server.output)
    }
    guard hasAnswered else { return false }
    noteAnsweredAtOnce(from: start, on: reactor)
    if server.isLogging {
      connection.withHead { head in
        logAnsweredAtOnce(head.method, head.target, from: start, client: client, on: reactor)
      }
    }
    _ = connection.answerIsReady(isStreamed: false)
    answerIsOut(on: reactor)
    if server.output.count >= Self.outputBytesMax { flushOutput() }
    return true
  }

  private func beginExchange(
    for client: ProxiedClient?, rate: RateVerdict?, on reactor: isolated Reactor
  ) {
    let head = connection.head
    var bytesMax = 0
    var coding: ContentDecoding? = .identity
    if head.hasBody {
      let rule = server.handler.contentRule(for: head)
      bytesMax = rule.bytesMax ?? limits.bodyBytesMax
      if let refusal = connection.allowContent(bytesMax: bytesMax) {
        return refuse(refusal, head: head, on: reactor)
      }
      // A client that waits for `100 Continue` has nothing to hurry with yet.
      if !head.expectsContinue { bodyPace = .sending(limits, from: stream.now) }
      if !rule.keepsCoding { coding = ContentDecoding(head.fields) }
    }
    let channel =
      head.hasBody
      ? BodyChannel(isAwaited: head.expectsContinue, demand: makeDemand(on: reactor)) : nil
    let request = ServerRequest(
      head: head,
      body: RequestBody(
        channel: channel, length: head.framing.length, coding: coding ?? .identity,
        limits: limits.decoding(bytesMax: bytesMax)),
      id: server.stamp.requestID(for: head), remoteAddress: stream.remoteAddress, client: client,
      isSecure: stream.isSecure, receivedAt: stream.now,
      date: HTTPDate(secondsSince1970: reactor.wallSeconds), rates: server.rates)
    exchange = Exchange(
      request: request, channel: channel, rate: rate,
      refusal: Self.refusal(rate: rate, coding: coding))
    exchangeNumber += 1
  }

  private func takeContent(
    _ bytes: Slice<UnsafeRawBufferPointer>, on reactor: isolated Reactor
  ) {
    guard let channel = exchange?.channel else { return }
    if bodyPace == nil { bodyPace = .sending(limits, from: stream.now) }
    bodyPace?.advance(by: bytes.count, now: stream.now)
    if channel.offer(Array(bytes)) { holdBody(on: reactor) }
  }

  /// No more content comes: it is whole, or it failed.
  private func contentEnded(_ failure: BodyReadError?, on reactor: isolated Reactor) {
    bodyPace = nil
    bodyHeldSince = nil
    readDeadline = nil
    drainDeadline = nil
    exchange?.channel?.finish(failure)
    if let answer = exchange?.waitingAnswer.take() {
      send(answer, on: reactor)
    } else if exchange == nil {
      // What stood behind a streamed answer has been drained.
      answerIsOut(on: reactor)
    }
  }

  /// The reader lags: the socket waits for it, and the peer is not to blame.
  private func holdBody(on reactor: isolated Reactor) {
    startHandlerIfDue(on: reactor)
    guard bodyHeldSince == nil, connection.awaitsContent else { return }
    bodyHeldSince = stream.now
    stream.pauseReading()
  }

  /// What a reader calls, from wherever it runs, when it wants content.
  private func makeDemand(on reactor: isolated Reactor) -> @Sendable () -> Void {
    let number = exchangeNumber + 1
    // SAFETY: the session is touched only after the task has entered its reactor.
    nonisolated(unsafe) let session = self
    return {
      Task(executorPreference: reactor.loop) {
        await reactor.ask { session.contentIsWanted(by: number, on: $0) }
      }
    }
  }

  private func contentIsWanted(by number: Int, on reactor: isolated Reactor) {
    guard number == exchangeNumber, stream.isOpen else { return }
    if connection.takeContinue() {
      server.output.append("HTTP/1.1 100 Continue\r\n\r\n")
      flushOutput()
      bodyPace = .sending(limits, from: stream.now)
    }
    if let since = bodyHeldSince.take() {
      bodyPace?.excuse(stream.now.elapsed(since: since))
      stream.resumeReading()
    }
    armTimer()
  }
}
