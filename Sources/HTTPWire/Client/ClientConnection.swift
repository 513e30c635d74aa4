/// The state of one client connection: turns the bytes of an upstream response into events.
///
/// It does no I/O. Announce a request with ``requestSent(method:asksForUpgrade:closes:)``, pass the
/// received bytes to ``next(_:from:)`` until ``ClientConnectionEvent/endOfResponse``, then check
/// ``canBeReused`` before the next request. It carries one request at a time.
package struct ClientConnection: Sendable {
  private enum Phase: Equatable {
    case idle
    case awaitingHead
    case readingBody
    case switched
    case ended
  }

  /// Interim responses skipped before the final one. More is an attack or a loop.
  static let interimResponsesMax = 16

  private var parser: ResponseParser
  private let bodyLimits: BodyLimits
  private var phase = Phase.idle
  private var method = RequestMethod.get
  private var asksForUpgrade = false
  private var interimResponses = 0
  private var body: BodyDecoder?
  private var responseBytes = 0
  private var persists = true

  package init(headLimits: HeadLimits = .response, bodyLimits: BodyLimits) {
    parser = ResponseParser(limits: headLimits)
    self.bodyLimits = bodyLimits
  }

  /// The head of the response being read.
  package var head: ResponseHead { parser.head }

  /// Whether another request can be sent.
  package var canBeReused: Bool { phase == .idle && persists }

  /// Whether any byte of the response has arrived. Without one, the server may never have seen the
  /// request.
  package var hasResponseBytes: Bool { responseBytes > 0 }

  /// Notes that a request's head has been sent, or is about to be.
  ///
  /// - Parameters:
  ///   - asksForUpgrade: whether a 101 response is accepted.
  ///   - closes: whether the request has `Connection: close`.
  package mutating func requestSent(
    method: RequestMethod, asksForUpgrade: Bool = false, closes: Bool = false
  ) {
    precondition(canBeReused, "a request is in progress, or the connection cannot be reused")
    self.method = method
    self.asksForUpgrade = asksForUpgrade
    persists = !closes
    interimResponses = 0
    responseBytes = 0
    phase = .awaitingHead
  }

  /// Returns the next event in `input` from `offset` and advances `offset` past the consumed bytes.
  package mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(ResponseError) -> ClientConnectionEvent {
    let before = offset
    defer { responseBytes += offset - before }
    switch phase {
    case .idle:
      guard offset < input.count else { return .needMore }
      persists = false
      throw .unsolicitedBytes
    case .awaitingHead:
      return try nextHead(input, from: &offset)
    case .readingBody:
      return try nextContent(input, from: &offset)
    case .switched:
      guard offset < input.count else { return .needMore }
      defer { offset = input.count }
      return .switchedBytes(offset..<input.count)
    case .ended:
      offset = input.count
      return .needMore
    }
  }

  private mutating func nextHead(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(ResponseError) -> ClientConnectionEvent {
    while offset < input.count {
      let rest = UnsafeRawBufferPointer(rebasing: input[offset...])
      let count: Int?
      do {
        count = try parser.parse(rest)
      } catch {
        throw end(error)
      }
      guard let count else {
        offset = input.count
        return .needMore
      }
      offset += count
      if let event = try headIsComplete() { return event }
    }
    return .needMore
  }

  /// Handles a complete head. Interim responses other than 100 produce no event.
  private mutating func headIsComplete() throws(ResponseError) -> ClientConnectionEvent? {
    let status = parser.head.status
    if status == 101 {
      guard asksForUpgrade, parser.head.asksForUpgrade else { throw end(.unsolicitedUpgrade) }
      persists = false
      phase = .switched
      return .response
    }
    if status < 200 {
      interimResponses += 1
      guard interimResponses <= Self.interimResponsesMax else {
        throw end(.tooManyInterimResponses)
      }
      return status == 100 ? .continue : nil
    }
    let framing = parser.head.framing(answering: method)
    persists = persists && parser.head.keepsAlive && framing != .untilClose
    do {
      body = try BodyDecoder(framing: framing, limits: bodyLimits)
    } catch {
      throw end(.body(error))
    }
    phase = .readingBody
    return .response
  }

  private mutating func nextContent(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(ResponseError) -> ClientConnectionEvent {
    guard var decoder = body.take() else { return .needMore }
    do {
      switch try decoder.next(input, from: &offset) {
      case .needMore:
        body = decoder
        return .needMore
      case .content(let range):
        body = decoder
        return .content(range)
      case .end:
        phase = persists ? .idle : .ended
        return .endOfResponse
      }
    } catch {
      throw end(.body(error))
    }
  }

  /// Notes that the peer has closed its sending side.
  ///
  /// - Returns: Whether that completes the response; otherwise no response was in progress.
  package mutating func endOfInput() throws(ResponseError) -> Bool {
    persists = false
    switch phase {
    case .idle, .switched, .ended:
      phase = .ended
      return false
    case .awaitingHead:
      throw end(responseBytes > 0 ? .closedInsideResponse : .closedBeforeResponse)
    case .readingBody:
      guard var decoder = body.take(), decoder.endOfInput() else {
        throw end(.closedInsideResponse)
      }
      phase = .ended
      return true
    }
  }

  private mutating func end(_ error: ResponseError) -> ResponseError {
    phase = .ended
    persists = false
    return error
  }
}

/// An event of a client connection, in the order of its bytes.
package enum ClientConnectionEvent: Sendable, Equatable {
  /// All bytes have been consumed; more are needed.
  case needMore
  /// The server asks for the body that was held back for `Expect: 100-continue`. Ignore it without
  /// such a request.
  case `continue`
  /// The final response's head is complete: ``ClientConnection/head``. With status 101 the
  /// connection speaks another protocol from here on.
  case response
  /// A range of the input that holds content of the response.
  case content(Range<Int>)
  /// A range of the input that belongs to the other protocol.
  case switchedBytes(Range<Int>)
  /// The response is complete.
  case endOfResponse
}
