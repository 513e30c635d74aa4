import HTTPTypes
import HTTPWire
import Traces
import Transport
import WebSockets

extension ServerSession {
  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {
    server.tally.bytesReceived += bytes.count
    if let webSocket {
      server.noteCounted(on: reactor)
      return webSocket.pump.received(bytes)
    }
    if kept.isEmpty {
      takeIn(bytes, on: reactor)
    } else {
      kept.append(contentsOf: bytes)
      takeInKept(on: reactor)
    }
  }

  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
    hasPeerEnded = true
    if let webSocket { return webSocket.pump.reachedEnd() }
    switch connection.endOfInput() {
    case .finishResponse:
      if exchange?.eventStallMax != nil { endForPeer() }
    case .endContent:
      contentEnded(.incomplete, on: reactor)
    case .close:
      endForPeer()
    }
  }

  private func endForPeer() {
    stream.close()
    watchClosing()
  }

  /// Notes that the response is a stream of events; see ``ResponseWriter/streamEvents(stallMax:)``.
  func streamsEvents(stallMax: Duration) {
    if exchange != nil, exchange?.eventStallMax == nil {
      server.shared.counters.eventStreamOpened()
    }
    exchange?.eventStallMax = stallMax
    if hasPeerEnded { endForPeer() }
  }

  func takeInKept(on reactor: isolated Reactor) {
    let input = kept
    kept = []
    input.withUnsafeBytes { takeIn($0, on: reactor) }
  }

  /// Processes bytes as far as the connection's state allows, and keeps the rest.
  func takeIn(_ input: UnsafeRawBufferPointer, on reactor: isolated Reactor) {
    isTakingIn = true
    var offset = 0
    var goesOn = true
    while goesOn, stream.isOpen, !isHeldByOutput, webSocket == nil {
      goesOn = takeNext(input, from: &offset, on: reactor)
    }
    isTakingIn = false
    flushOutput()
    guard stream.isOpen else { return }
    if let drainDeadline { readDeadline = min(drainDeadline, stream.now + limits.drainPauseMax) }
    if offset < input.count { kept = Array(input[offset...]) }
    guard webSocket == nil else { return passKeptOn() }
    if offset < input.count || isHeldByOutput { stream.pauseReading() }
    armTimer()
  }

  /// Whether the next request waits until the client has read its responses. Otherwise a client that
  /// sends requests without reading would fill this process's memory.
  var isHeldByOutput: Bool { stream.isBackedUp && exchange == nil }

  /// Handles the next event of the input. Returns whether another can follow.
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
      // A handler that responded at once has made way for the next request.
      return exchange == nil
    case .request:
      requestBegan(input, from: &offset, on: reactor)
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

  /// Whether the connection should close after the next response.
  var shouldEndConnection: Bool {
    server.isDraining || stream.now > openedAt.advanced(byNanoseconds: server.ageNanosecondsMax)
  }

  /// Handles a complete head; its content follows in `input` from `offset`.
  private func requestBegan(
    _ input: UnsafeRawBufferPointer, from offset: inout Int, on reactor: isolated Reactor
  ) {
    idleSince = nil
    readDeadline = nil
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    server.stamp.forgetRequest()
    if shouldEndConnection { connection.stopPersisting() }
    let origin = hasOrigins ? requestOrigin(on: reactor) : RequestOrigin()
    // A node has judged the head that its client sent, which is shorter than the one that it sends.
    if server.shared.configuration.nodes != nil, !origin.isOfNode,
      let refusal = connection.refuseHead(over: limits.connection.head)
    {
      return refuse(refusal, head: connection.head, on: reactor)
    }
    let rate = origin.isCounted ? nil : judgeRate(of: origin.client, on: reactor)
    if rate?.isAllowed ?? true, origin.node == nil,
      answerAtOnce(input, from: &offset, for: origin.client, on: reactor)
    {
      return
    }
    beginExchange(from: origin, rate: rate, on: reactor)
  }

  /// Content that an immediate response can depend on, in bytes.
  private static var immediateContentBytesMax: Int { 8 * 1024 }

  /// Asks the handler for an immediate response. Returns whether it responded.
  private func answerAtOnce(
    _ input: UnsafeRawBufferPointer, from offset: inout Int, for client: ProxiedClient?,
    on reactor: isolated Reactor
  ) -> Bool {
    guard !server.isHolding, connection.persists,
      let content = connection.wholeContent(in: input, from: offset),
      content.count <= Self.immediateContentBytesMax
    else { return false }
    let start = server.output.count
    var method = RequestMethod.get
    let hasResponded = connection.withHead { head in
      method = head.method
      guard head.minorVersion == 1, !head.asksForUpgrade else { return false }
      return server.handler.answerAtOnce(
        head, content: content, stamp: server.stamp, into: &server.output)
    }
    guard hasResponded else { return false }
    connection.takeWholeContent(from: &offset)
    let nanoseconds = noteImmediateResponse(method, from: start, on: reactor)
    var trace: TraceID?
    if let tracing = server.tracing {
      trace = recordImmediateResponse(
        from: start, nanoseconds: nanoseconds, client: client, by: tracing)
    }
    if server.isLogging {
      connection.withHead { head in
        logImmediateResponse(
          head, from: start, nanoseconds: nanoseconds, client: client, trace: trace, on: reactor)
      }
    }
    _ = connection.responseIsReady(isStreamed: false)
    responseIsOut(on: reactor)
    if server.output.count >= Self.outputBytesMax { flushOutput() }
    return true
  }

  private func beginExchange(
    from origin: RequestOrigin, rate: RateVerdict?, on reactor: isolated Reactor
  ) {
    let client = origin.client
    let head = connection.head
    var bytesMax = 0
    var coding: ContentDecoding? = .identity
    var respond: ContentRoute.Respond?
    if head.hasBody {
      let route = server.handler.contentRoute(for: head)
      let rule = route.rule
      respond = route.respond
      bytesMax = rule.bytesMax ?? limits.bodyBytesMax
      // A node has judged the content that its client sent, and forwards it decoded.
      if origin.isOfNode { bytesMax = max(bytesMax, limits.decodedBytesMax) }
      if let refusal = connection.allowContent(bytesMax: bytesMax) {
        return refuse(refusal, head: head, on: reactor)
      }
      // A client that waits for `100 Continue` cannot be late yet.
      if !head.expectsContinue { bodyPace = .sending(limits, from: stream.now) }
      if !rule.keepsCoding { coding = ContentDecoding(head.fields) }
    }
    let channel =
      head.hasBody
      ? BodyChannel(isAwaited: head.expectsContinue, demand: makeDemand(on: reactor)) : nil
    let id = server.stamp.requestID(for: head)
    let isSecure = client?.isSecure ?? stream.isSecure
    let request = ServerRequest(
      head: head,
      body: RequestBody(
        channel: channel, length: head.framing.length, coding: coding ?? .identity,
        limits: limits.decoding(bytesMax: bytesMax), isAdmitted: origin.hasWholeContent),
      id: id, remoteAddress: stream.remoteAddress, client: client, node: origin.node,
      isSecure: stream.isSecure, receivedAt: stream.now,
      date: HTTPDate(secondsSince1970: reactor.wallSeconds),
      trace: server.tracing?.begin(head, requestID: id, scheme: isSecure ? "https" : "http")
        ?? TraceContext(of: head).map { ActiveTrace($0) },
      rates: server.rates, respond: respond)
    exchange = ServerExchange(
      request: request, channel: channel, rate: rate,
      refusal: Self.refusal(rate: rate, coding: coding), termNumber: server.termNumber)
    exchangeNumber += 1
  }

  private func takeContent(
    _ bytes: Slice<UnsafeRawBufferPointer>, on reactor: isolated Reactor
  ) {
    guard let channel = exchange?.channel else { return }
    exchange?.bytesRead += bytes.count
    if bodyPace == nil { bodyPace = .sending(limits, from: stream.now) }
    bodyPace?.advance(by: bytes.count, now: stream.now)
    if channel.offer(Array(bytes)) { holdBody(on: reactor) }
  }

  /// Handles the end of the content: complete, or failed.
  private func contentEnded(_ failure: BodyReadError?, on reactor: isolated Reactor) {
    bodyPace = nil
    bodyHeldSince = nil
    readDeadline = nil
    drainDeadline = nil
    exchange?.channel?.finish(failure)
    if let response = exchange?.pendingResponse.take() {
      send(response, on: reactor)
    } else if exchange == nil {
      // The content after a streamed response has been drained.
      responseIsOut(on: reactor)
    }
  }

  /// Pauses the socket for a slow reader; the peer's deadline pauses with it.
  private func holdBody(on reactor: isolated Reactor) {
    startHandlerIfDue(on: reactor)
    guard bodyHeldSince == nil, connection.awaitsContent else { return }
    bodyHeldSince = stream.now
    stream.pauseReading()
  }

  /// Makes the closure that a reader calls, on any thread, when it wants content.
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

extension ServerSession {
  /// Where the request came from, as a trusted proxy or another node of the cluster reports.
  func requestOrigin(on reactor: isolated Reactor) -> RequestOrigin {
    let configuration = server.shared.configuration
    let origin = connection.withHead { head in
      let node = configuration.nodes?.judge(head, reactor.wallSeconds)
      if case .accepted(_, let client) = node { return RequestOrigin(client: client, node: node) }
      let client =
        isProxied
        ? ProxiedClient(
          of: head.fields, from: stream.remoteAddress, trusts: configuration.proxies) : nil
      return RequestOrigin(client: client, node: node)
    }
    if origin.isOfNode, !isNode {
      isNode = true
      server.shared.connections.noteNode(stream.remoteAddress)
    }
    return origin
  }

  /// Counts the request against the rate limit, if there is one, and adds the result to the response.
  func judgeRate(of client: ProxiedClient?, on reactor: isolated Reactor) -> RateVerdict? {
    guard let rates = server.rates else { return nil }
    let verdict = connection.withHead {
      rates.judge($0, from: client?.address ?? stream.remoteAddress, now: stream.now)
    }
    server.stamp.rate = verdict
    if verdict?.isAllowed == false { server.tally.rateRefusals += 1 }
    return verdict
  }

  /// The reason that a valid request is not passed to the handler; nil if it is.
  static func refusal(rate: RateVerdict?, coding: ContentDecoding?) -> ServerProblem? {
    if let rate, !rate.isAllowed {
      return .rateLimited(retryAfterSeconds: rate.resetSeconds)
    }
    return coding == nil ? .refused(.unknownContentCoding) : nil
  }

  /// Makes the response to a request that is not passed to the handler.
  static func refusalResponse(
    _ refusal: ServerProblem, to request: ServerRequest, of server: LoopServer
  ) -> ServerResponse {
    var response = ServerResponse.problem(refusal, for: request)
    switch refusal {
    case .rateLimited(let seconds): response.fields[.retryAfter] = "\(seconds)"
    case .refused(.unknownContentCoding):
      response.fields[.acceptEncoding] = ContentDecoding.accepted
    default: break
    }
    server.handler.decorate(&response, for: request)
    return response
  }
}
