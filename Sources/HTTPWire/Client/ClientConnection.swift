/// One client connection as a value: it says what the bytes of an upstream's answer mean.
///
/// It does no I/O. A request is announced with ``requestSent(method:asksForUpgrade:)``, the bytes
/// that come back go through ``next(_:from:)`` until ``ClientConnectionEvent/endOfResponse``, and
/// then ``canBeReused`` tells whether another request may follow. One request at a time.
package struct ClientConnection: Sendable {
  private enum Phase: Equatable {
    case idle
    case awaitingHead
    case readingBody
    case switched
    case ended
  }

  /// Interim responses skipped before the final one. More is an attack or a loop.
  package static let interimResponsesMax = 16

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

  /// The head of the response that is being read.
  package var head: ResponseHead { parser.head }

  /// Whether another request may be sent.
  package var canBeReused: Bool { phase == .idle && persists }

  /// Whether any byte of the answer has come: without one, the request may never have been seen.
  package var hasResponseBytes: Bool { responseBytes > 0 }

  /// A request's head has been sent, or is about to be.
  ///
  /// - Parameters:
  ///   - asksForUpgrade: whether a 101 is welcome.
  ///   - closes: whether it said `Connection: close`.
  package mutating func requestSent(
    method: RequestMethod, asksForUpgrade: Bool = false, closes: Bool = false
  ) {
    precondition(canBeReused, "a request is still under way, or the connection is used up")
    self.method = method
    self.asksForUpgrade = asksForUpgrade
    persists = !closes
    interimResponses = 0
    responseBytes = 0
    phase = .awaitingHead
  }

  /// The next event in `input` from `offset`, which moves behind what was taken.
  package mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(ResponseError) -> ClientConnectionEvent {
    let before = offset
    defer { responseBytes += offset - before }
    switch phase {
    case .idle:
      guard offset < input.count else { return .needMore }
      persists = false
      throw .unaskedBytes
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

  /// Acts on a complete head. An interim response gives no event.
  private mutating func headIsComplete() throws(ResponseError) -> ClientConnectionEvent? {
    let status = parser.head.status
    if status == 101 {
      guard asksForUpgrade, parser.head.asksForUpgrade else { throw end(.unaskedUpgrade) }
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

  /// The peer has shut its sending side.
  ///
  /// - Returns: Whether that ends the response; otherwise none was under way.
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
