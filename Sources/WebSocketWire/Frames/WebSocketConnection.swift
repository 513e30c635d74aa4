/// The state of one WebSocket connection after its handshake: bytes and decisions go in, events and frames
/// come out. It does no I/O and has no clock.
///
/// Pass received bytes to ``next(_:from:)``, and perform each event. A connection ends in one of four
/// ways: the peer's close frame (answered by the event's frame), this side's ``close(code:reason:)``,
/// a fault of the peer (the event has the frame that names it), or the end of the bytes.
package struct WebSocketConnection: ~Copyable {
  private enum Phase: Equatable {
    case open
    /// This side's close frame is sent; the peer's is awaited.
    case closing
    /// Both close frames are sent, or the connection has failed. Further input is dropped.
    case closed
  }

  /// An event, in the order of the bytes.
  package enum Event: Sendable, Equatable {
    /// All bytes have been consumed; more are needed.
    case needMore
    case message(WebSocketMessage)
    /// Answer with ``WebSocketConnection/pong(_:)``; the latest ping is enough (RFC 6455 section 5.5.3).
    case ping([UInt8])
    case pong([UInt8])
    /// The peer has closed. Send the frame, if there is one; no frame follows it.
    case closed(WebSocketClose, reply: [UInt8]?)
    /// The peer broke the protocol or a limit. Send the frame and end the connection; no frame follows it.
    case failed(WebSocketFault, frame: [UInt8]?)
    /// Bytes after the end, or a message that arrived while this side closes, have been dropped.
    case ignored
  }

  /// The smallest payload of a server that is sent beside its header instead of copied after it.
  private static let separatePayloadBytesMin = 16 * 1024

  package let role: WebSocketRole
  private let limits: WebSocketLimits
  private let makeMask: @Sendable () -> UInt32
  private var decoder: WebSocketDecoder
  private var deflater: MessageDeflater?
  private var phase = Phase.open

  /// - Parameters:
  ///   - deflate: the agreed compression; nil for none.
  ///   - makeMask: returns an unpredictable number for each frame of a client (RFC 6455 section 5.3).
  package init(
    role: WebSocketRole, limits: WebSocketLimits, deflate: WebSocketDeflate?,
    makeMask: @escaping @Sendable () -> UInt32
  ) {
    self.role = role
    self.limits = limits
    self.makeMask = makeMask
    decoder = WebSocketDecoder(
      role: role, messageBytesMax: limits.messageBytesMax, deflate: deflate)
    deflater = deflate.flatMap { MessageDeflater($0.outgoing(at: role)) }
  }

  /// Whether messages can be sent.
  package var isOpen: Bool { phase == .open }

  /// Returns the next event in `input` from `offset` and advances `offset` past the consumed bytes.
  package mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) -> Event {
    guard phase != .closed else {
      guard offset < input.count else { return .needMore }
      offset = input.count
      return .ignored
    }
    do throws(WebSocketFault) {
      switch try decoder.next(input, from: &offset) {
      case .needMore: return .needMore
      case .message(let message): return phase == .open ? .message(message) : .ignored
      case .ping(let payload): return phase == .open ? .ping(payload) : .ignored
      case .pong(let payload): return .pong(payload)
      case .close(let close):
        // The peer's own code is the answer (RFC 6455 section 5.5.1).
        let reply = closeFrame(WebSocketClose(code: close.code))
        phase = .closed
        return .closed(close, reply: reply)
      }
    } catch {
      let frame = closeFrame(error.close)
      phase = .closed
      return .failed(error, frame: frame)
    }
  }

  /// Encodes a message; nil if the connection is no longer open.
  package mutating func frame(of message: WebSocketMessage) -> WebSocketOutput? {
    guard phase == .open else { return nil }
    let opcode: WebSocketFrameHeader.Opcode = message.isText ? .text : .binary
    let bytes = message.bytes
    let policy = limits.deflate
    if deflater != nil, bytes.count >= policy.messageBytesMin,
      bytes.count <= policy.messageBytesMax,
      let frame = compressedFrame(opcode, bytes)
    {
      return WebSocketOutput(head: frame)
    }
    if role == .server, bytes.count >= Self.separatePayloadBytesMin {
      return WebSocketOutput(
        head: WebSocketFrames.head(opcode, payloadBytes: bytes.count), payload: bytes)
    }
    return WebSocketOutput(head: WebSocketFrames.frame(opcode, bytes, mask: mask))
  }

  /// Makes the answer to a ping; nil if the connection is no longer open.
  package mutating func pong(_ payload: [UInt8]) -> [UInt8]? {
    guard phase == .open else { return nil }
    return WebSocketFrames.frame(.pong, payload, mask: mask)
  }

  /// Makes a ping; nil if the connection is no longer open.
  package mutating func ping() -> [UInt8]? {
    guard phase == .open else { return nil }
    return WebSocketFrames.frame(.ping, [], mask: mask)
  }

  /// Begins to close: makes the close frame, after which the peer's own is awaited. Nil if a close frame
  /// was sent before.
  ///
  /// A code that must not be sent is replaced by none.
  package mutating func close(_ close: WebSocketClose) -> [UInt8]? {
    guard phase == .open else { return nil }
    let frame = closeFrame(close)
    phase = .closing
    return frame
  }

  /// Ends the connection without a close frame: the peer has disconnected.
  package mutating func end() { phase = .closed }

  /// Makes a close frame unless one has been sent.
  private func closeFrame(_ close: WebSocketClose) -> [UInt8]? {
    guard phase == .open else { return nil }
    return WebSocketFrames.frame(.close, WebSocketFrames.closePayload(close), mask: mask)
  }

  private var mask: UInt32? { role == .client ? makeMask() : nil }

  private mutating func compressedFrame(
    _ opcode: WebSocketFrameHeader.Opcode, _ bytes: [UInt8]
  ) -> [UInt8]? {
    let mask = mask
    return deflater?.withCompressed(bytes) { payload in
      WebSocketFrames.frame(opcode, payload, isCompressed: true, mask: mask)
    }
  }
}
