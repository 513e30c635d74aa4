/// The state of one server connection: bytes and decisions go in, events and next steps come out.
///
/// It does no I/O and has no clock. Its owner reads bytes and passes them to ``next(_:from:)``, performs
/// the returned events, and reports the progress of the response. Each request has two sides: the
/// *request* (head, body, complete) and the *response* (open, under way, done). The next request is
/// parsed only when both are done, so pipelined requests are answered in order, and bytes read ahead
/// are never mistaken for content, nor content for a request.
///
/// The value is not copyable, so a connection has exactly one state.
package struct ServerConnection: ~Copyable, Sendable {
  enum Phase: Equatable {
    /// Between requests, or inside a head.
    case awaitingHead
    /// A request is being read or answered.
    case serving
    /// A fault was found; its response is due, then the connection closes.
    case refusing
    /// The last response has been sent; further input is dropped.
    case lingering
    case closed
  }

  enum ResponsePhase: Equatable {
    case open
    /// The response waits until the unwanted body has been read.
    case waitingForDrain
    case underWay
    case done
  }

  package let limits: ServerConnectionLimits
  var parser: RequestParser
  var phase = Phase.awaitingHead
  var body: BodyDecoder?
  var responsePhase = ResponsePhase.open
  var isRequestComplete = false
  var dropsContent = false
  var bytesDropped = 0
  var owesContinue = false
  var mayPersist = true
  /// Requests that have been started on this connection.
  var requestCount = 0

  package init(limits: ServerConnectionLimits) {
    self.limits = limits
    parser = RequestParser(limits: limits.head)
  }

  /// The head of the request being served.
  package var head: RequestHead { parser.head }

  /// Calls `body` with the head, without copying it.
  @inline(__always)
  package func withHead<R>(_ body: (borrowing RequestHead) -> R) -> R { body(parser.head) }

  /// Whether no request is being served and no byte of the next one has arrived.
  package var isIdle: Bool { phase == .awaitingHead && !parser.isInsideHead }

  /// Whether part of a head has arrived.
  package var isInsideHead: Bool { phase == .awaitingHead && parser.isInsideHead }

  /// Whether content of the request is still to come.
  package var awaitsContent: Bool { phase == .serving && !isRequestComplete }

  /// Whether the last response has been sent and the socket only waits for the peer to close.
  package var isLingering: Bool { phase == .lingering }

  /// Whether the connection stays open after the response that is due, as far as is known.
  package var persists: Bool { mayPersist }

  /// Returns the next event in `input` from `offset` and advances `offset` past the consumed bytes.
  ///
  /// Call it until it returns `needMore`, `pause`, `refuse` or `close`, even when no input is left: a
  /// request can end with its last byte.
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
    responsePhase = .open
    dropsContent = false
    bytesDropped = 0
    owesContinue = parser.head.expectsContinue
    mayPersist = mayPersist && parser.head.keepsAlive && requestCount < limits.requestsMax
    isRequestComplete = !parser.head.hasBody
    body = nil
  }

  /// The content of the request whose head was parsed last, if it has none or all of it is in `input` from
  /// `offset`; nil for other content. Call it right after ``ServerConnectionEvent/request``.
  package func wholeContent(
    in input: UnsafeRawBufferPointer, from offset: Int
  ) -> UnsafeRawBufferPointer? {
    switch parser.head.framing {
    case .none: return UnsafeRawBufferPointer(rebasing: input[offset..<offset])
    case .length(let count):
      guard count <= input.count - offset, !parser.head.expectsContinue else { return nil }
      return UnsafeRawBufferPointer(rebasing: input[offset..<offset + count])
    case .chunked, .untilClose: return nil
    }
  }

  /// Advances `offset` past the content that ``wholeContent(in:from:)`` returned: it has been read.
  package mutating func takeWholeContent(from offset: inout Int) {
    guard case .length(let count) = parser.head.framing else { return }
    offset += count
    isRequestComplete = true
  }

  /// Sets the limit on the request's content. Call it once, right after
  /// ``ServerConnectionEvent/request``, if ``RequestHead/hasBody``.
  ///
  /// - Returns: The refusal, if the request announces more: the client receives it before it sends the
  ///   body, since `100 Continue` was not sent either.
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

  /// Refuses the request whose head is complete, if that exceeds other limits than those it was parsed by.
  ///
  /// - Returns: the error; nil if the head is within the limits.
  package mutating func refuseHead(over limits: HeadLimits) -> RequestError? {
    guard let error = parser.head.excess(over: limits) else { return nil }
    _ = refuse(error)
    return error
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
      // A response that is under way cannot be withdrawn: it is cut short instead.
      guard responsePhase != .underWay, responsePhase != .done else {
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

/// An event of a server connection, in the order of its bytes.
package enum ServerConnectionEvent: Sendable, Equatable {
  /// All bytes have been consumed; more are needed.
  case needMore
  /// A request's head is complete: ``ServerConnection/head``. A body can follow.
  case request
  /// A range of the input that holds content of the request.
  case content(Range<Int>)
  /// The request is complete.
  case endOfRequest
  /// The rest of the input belongs to later requests, and the response to this one is not complete:
  /// keep the input, and stop reading.
  case pause
  /// Some of the input has been dropped: unwanted content, or bytes after the last response.
  case ignored
  /// The limit on lingering is reached: close the socket now.
  case close
  /// The request is faulty. Respond once; the connection closes after that response.
  case refuse(RequestError)
}

/// Limits of a server connection in bytes and requests. The server keeps those in time.
package struct ServerConnectionLimits: Sendable, Equatable {
  package var head: HeadLimits
  package var body: BodyLimits
  /// Bytes of an unwanted body that are read and dropped to keep the connection open. Beyond that, a
  /// new connection is cheaper than the rest of the body.
  package var drainBytesMax: Int
  /// Bytes read and dropped after the last response before the socket is closed, so that the response
  /// is not lost to a reset (RFC 9112 9.6). Larger than most content: many clients read the response
  /// only when they have sent all of it.
  package var lingerBytesMax: Int
  /// Requests served on one connection.
  package var requestsMax: Int

  package init(
    head: HeadLimits = .request, body: BodyLimits = BodyLimits(),
    drainBytesMax: Int = 256 * 1024, lingerBytesMax: Int = 16 << 20, requestsMax: Int = 10_000
  ) {
    self.head = head
    self.body = body
    self.drainBytesMax = drainBytesMax
    self.lingerBytesMax = lingerBytesMax
    self.requestsMax = requestsMax
  }
}
