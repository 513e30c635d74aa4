/// One server connection as a value: bytes and decisions go in, events and next steps come out.
///
/// It does no I/O and knows no time. Whoever drives it reads bytes and hands them to ``next``,
/// performs what comes out, and tells how answering went. Two things run side by side in a request:
/// the *request* side (head, body, complete) and the *answer* side (open, under way, done). The
/// next request is looked at only when both are done, so pipelined requests are answered in order
/// and nothing read ahead is ever taken for content, or content for a request.
///
/// A connection has one state: the value cannot be copied, by mistake or at a price.
package struct ServerConnection: ~Copyable, Sendable {
  enum Phase: Equatable {
    /// Between requests, or inside a head.
    case awaitingHead
    /// A request is being read or answered.
    case serving
    /// A fault was found; its answer is due, then the end.
    case refusing
    /// The last answer is out; what still comes is dropped.
    case lingering
    case closed
  }

  enum Answer: Equatable {
    case open
    /// It waits until the body nobody wanted has gone by.
    case waitingForDrain
    case underWay
    case done
  }

  package let limits: ServerConnectionLimits
  var parser: RequestParser
  var phase = Phase.awaitingHead
  var body: BodyDecoder?
  var answer = Answer.open
  var isRequestComplete = false
  var dropsContent = false
  var bytesDropped = 0
  var owesContinue = false
  var mayPersist = true
  /// Requests that have been started on this connection.
  package internal(set) var requestCount = 0

  package init(limits: ServerConnectionLimits) {
    self.limits = limits
    parser = RequestParser(limits: limits.head)
  }

  /// The head of the request that is being served.
  package var head: RequestHead { parser.head }

  /// Lends the head without copying the value.
  @inline(__always)
  package func withHead<R>(_ body: (borrowing RequestHead) -> R) -> R { body(parser.head) }

  /// Whether nothing has come of a next request, and none is being served.
  package var isIdle: Bool { phase == .awaitingHead && !parser.isInsideHead }

  /// Whether part of a head has come.
  package var isInsideHead: Bool { phase == .awaitingHead && parser.isInsideHead }

  /// Whether content of the request is still to come.
  package var awaitsContent: Bool { phase == .serving && !isRequestComplete }

  /// Whether the last answer is out and the socket only waits for the peer.
  package var isLingering: Bool { phase == .lingering }

  /// Whether the connection goes on after the answer that is due, as far as is known.
  package var persists: Bool { mayPersist }

  /// The next event in `input` from `offset`, which moves behind what was taken.
  ///
  /// To be called until it says `needMore`, `pause`, `refuse` or `close`, also with nothing left of
  /// the input: a request may end with its last byte.
  package mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) -> ServerConnectionEvent {
    switch phase {
    case .awaitingHead:
      return nextHead(input, from: &offset)
    case .serving:
      return isRequestComplete
        ? (offset < input.count ? .pause : .needMore) : nextContent(input, from: &offset)
    case .refusing, .closed:
      guard offset < input.count else { return .needMore }
      offset = input.count
      return .ignored
    case .lingering:
      guard offset < input.count else { return .needMore }
      bytesDropped += input.count - offset
      offset = input.count
      guard bytesDropped > limits.lingerBytesMax else { return .ignored }
      phase = .closed
      return .close
    }
  }

  private mutating func nextHead(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) -> ServerConnectionEvent {
    guard offset < input.count else { return .needMore }
    do {
      let rest = UnsafeRawBufferPointer(rebasing: input[offset...])
      guard let count = try parser.parse(rest) else {
        offset = input.count
        return .needMore
      }
      offset += count
      startRequest()
      return .request
    } catch {
      offset = input.count
      return refuse(error)
    }
  }

  private mutating func startRequest() {
    requestCount += 1
    phase = .serving
    answer = .open
    dropsContent = false
    bytesDropped = 0
    owesContinue = parser.head.expectsContinue
    mayPersist = mayPersist && parser.head.keepsAlive && requestCount < limits.requestsMax
    isRequestComplete = !parser.head.hasBody
    body = nil
  }

  /// Says how much content the request may have. To be called once, right after
  /// ``ServerConnectionEvent/request``, if ``RequestHead/hasBody``.
  ///
  /// - Returns: The refusal, if more than that is announced: the client learns it before it sends
  ///   the body, since `100 Continue` was not sent either.
  package mutating func allowContent(bytesMax: Int) -> RequestError? {
    var bodyLimits = limits.body
    bodyLimits.bodyBytesMax = bytesMax
    do {
      body = try BodyDecoder(framing: parser.head.framing, limits: bodyLimits)
      return nil
    } catch {
      _ = refuse(error.asRequestError)
      return error.asRequestError
    }
  }

  private mutating func nextContent(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) -> ServerConnectionEvent {
    guard var decoder = body.take() else { return .needMore }
    let before = offset
    do {
      let event = try decoder.next(input, from: &offset)
      if offset > before { owesContinue = false }
      body = decoder
      switch event {
      case .needMore:
        return .needMore
      case .content(let range):
        guard dropsContent else { return .content(range) }
        return drop(range.count)
      case .end:
        isRequestComplete = true
        return .endOfRequest
      }
    } catch {
      offset = input.count
      // An answer that is under way cannot be taken back: it is cut short instead.
      guard answer != .underWay, answer != .done else {
        phase = .closed
        return .close
      }
      return refuse(error.asRequestError)
    }
  }

  private mutating func drop(_ count: Int) -> ServerConnectionEvent {
    bytesDropped += count
    if bytesDropped > limits.drainBytesMax {
      mayPersist = false
      isRequestComplete = true
      return .endOfRequest
    }
    return .ignored
  }

  mutating func refuse(_ error: RequestError) -> ServerConnectionEvent {
    phase = .refusing
    mayPersist = false
    return .refuse(error)
  }
}
