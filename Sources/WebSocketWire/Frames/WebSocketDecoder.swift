/// Incremental decoder of one side's incoming frames (RFC 6455 section 5): bytes go in, whole messages and
/// control frames come out, however the bytes are split.
///
/// A message's memory grows with the bytes that have arrived, never with the length that a frame
/// announces. After a fault the decoder must not be used again.
struct WebSocketDecoder: ~Copyable {
  enum Event: Equatable {
    /// All bytes have been consumed; more are needed.
    case needMore
    case message(WebSocketMessage)
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketClose)
  }

  /// Bytes reserved for a message before they have arrived.
  private static let reservedBytesMax = 64 * 1024

  private let role: WebSocketRole
  private let messageBytesMax: Int
  /// The first bytes of a header whose others have not arrived.
  private var partialHeader: [UInt8] = []
  /// The header of the frame whose payload is being read; nil between frames.
  private var header: WebSocketFrameHeader?
  /// Bytes of the frame's payload that have been read.
  private var payloadOffset = 0
  private var control: [UInt8] = []
  private var message = Assembly()
  private var inflater: MessageInflater?

  /// The message being assembled.
  private struct Assembly {
    var isOpen = false
    var isText = false
    var isCompressed = false
    var bytes: [UInt8] = []
    /// Bytes of the payloads of its frames, as announced.
    var wireBytes = 0
    var text = UTF8Progress()
  }

  /// - Parameters:
  ///   - role: the side that decodes.
  ///   - messageBytesMax: the limit on a message, decompressed.
  ///   - deflate: the agreed compression; nil for none.
  init(role: WebSocketRole, messageBytesMax: Int, deflate: WebSocketDeflate?) {
    self.role = role
    self.messageBytesMax = messageBytesMax
    partialHeader.reserveCapacity(WebSocketFrameHeader.bytesMax)
    inflater = deflate.map { MessageInflater($0.incoming(at: role)) }
  }

  /// Returns the next event in `input` from `offset` and advances `offset` past the consumed bytes.
  mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(WebSocketFault) -> Event {
    while true {
      let frame: WebSocketFrameHeader
      if let header {
        frame = header
      } else {
        guard let parsed = try takeHeader(input, &offset) else { return .needMore }
        try begin(parsed)
        frame = parsed
      }
      let count = min(frame.length - payloadOffset, input.count - offset)
      if count > 0 {
        let piece = UnsafeRawBufferPointer(rebasing: input[offset..<offset + count])
        try take(piece, of: frame)
        offset += count
        payloadOffset += count
      }
      guard payloadOffset == frame.length else { return .needMore }
      header = nil
      if let event = try finish(frame) { return event }
    }
  }

  private mutating func takeHeader(
    _ input: UnsafeRawBufferPointer, _ offset: inout Int
  ) throws(WebSocketFault) -> WebSocketFrameHeader? {
    let context = WebSocketFrameHeader.Context(
      role: role, allowsCompression: inflater != nil, isInsideMessage: message.isOpen)
    if partialHeader.isEmpty {
      let rest = UnsafeRawBufferPointer(rebasing: input[offset...])
      if let parsed = try WebSocketFrameHeader.parse(rest, in: context) {
        offset += parsed.size
        return parsed
      }
      partialHeader.append(contentsOf: rest)
      offset = input.count
      return nil
    }
    while offset < input.count {
      partialHeader.append(input[offset])
      offset += 1
      if let parsed = try Self.parse(partialHeader, in: context) {
        partialHeader.removeAll(keepingCapacity: true)
        return parsed
      }
    }
    return nil
  }

  private static func parse(
    _ bytes: [UInt8], in context: WebSocketFrameHeader.Context
  ) throws(WebSocketFault) -> WebSocketFrameHeader? {
    // A closure with a typed error; `withUnsafeBytes` would erase it.
    let result = bytes.withUnsafeBytes { raw in
      Result { () throws(WebSocketFault) in try WebSocketFrameHeader.parse(raw, in: context) }
    }
    return try result.get()
  }

  private mutating func begin(_ frame: WebSocketFrameHeader) throws(WebSocketFault) {
    header = frame
    payloadOffset = 0
    switch frame.opcode {
    case .close, .ping, .pong:
      control.removeAll(keepingCapacity: true)
      return
    case .text, .binary:
      message.isOpen = true
      message.isText = frame.opcode == .text
      message.isCompressed = frame.isCompressed
      message.wireBytes = 0
      message.text.reset()
    case .continuation:
      break
    }
    // Compressed data can be a little longer than the message.
    let wireBytesMax =
      message.isCompressed ? messageBytesMax + messageBytesMax / 64 + 64 : messageBytesMax
    guard frame.length <= wireBytesMax - message.wireBytes else { throw .messageTooLarge }
    message.wireBytes += frame.length
    if !message.isCompressed, message.bytes.isEmpty {
      message.bytes.reserveCapacity(min(frame.length, Self.reservedBytesMax))
    }
  }

  private mutating func take(
    _ piece: UnsafeRawBufferPointer, of frame: WebSocketFrameHeader
  ) throws(WebSocketFault) {
    if frame.opcode.isControl {
      let start = control.count
      control.append(contentsOf: piece)
      Self.unmask(&control, from: start, at: payloadOffset, of: frame)
      return
    }
    let start = message.bytes.count
    if message.isCompressed {
      do throws(WebSocketFault) {
        try inflate(piece, of: frame)
      } catch {
        // The fault that comes first in the text is the one reported, however the bytes are split.
        try checkText(from: start, bytesMax: messageBytesMax)
        throw error
      }
    } else {
      message.bytes.append(contentsOf: piece)
      Self.unmask(&message.bytes, from: start, at: payloadOffset, of: frame)
    }
    try checkText(from: start)
  }

  private static func unmask(
    _ bytes: inout [UInt8], from start: Int, at offset: Int, of frame: WebSocketFrameHeader
  ) {
    guard let mask = frame.mask else { return }
    bytes.withUnsafeMutableBytes { raw in
      WebSocketMask.apply(
        mask, from: offset, to: UnsafeMutableRawBufferPointer(rebasing: raw[start...]))
    }
  }

  private mutating func inflate(
    _ piece: UnsafeRawBufferPointer, of frame: WebSocketFrameHeader
  ) throws(WebSocketFault) {
    guard frame.mask != nil else {
      try inflater?.decode(piece, into: &message.bytes, bytesMax: messageBytesMax)
      return
    }
    var plain = [UInt8](piece)
    Self.unmask(&plain, from: 0, at: payloadOffset, of: frame)
    let failure = plain.withUnsafeBytes { raw -> WebSocketFault? in
      do throws(WebSocketFault) {
        try inflater?.decode(raw, into: &message.bytes, bytesMax: messageBytesMax)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  private mutating func checkText(
    from start: Int, bytesMax: Int = .max
  ) throws(WebSocketFault) {
    let end = min(message.bytes.count, bytesMax)
    guard message.isText, start < end else { return }
    var text = message.text
    let isValid = message.bytes.withUnsafeBytes { raw in
      text.accept(UnsafeRawBufferPointer(rebasing: raw[start..<end]))
    }
    message.text = text
    guard isValid else { throw .invalidUTF8 }
  }

  /// Handles the end of a frame; nil if its message goes on.
  private mutating func finish(_ frame: WebSocketFrameHeader) throws(WebSocketFault) -> Event? {
    switch frame.opcode {
    case .ping: return .ping(control)
    case .pong: return .pong(control)
    case .close: return .close(try Self.close(control))
    case .text, .binary, .continuation:
      return frame.isFinal ? .message(try finishMessage()) : nil
    }
  }

  private mutating func finishMessage() throws(WebSocketFault) -> WebSocketMessage {
    if message.isCompressed {
      let start = message.bytes.count
      try inflater?.finish(into: &message.bytes, bytesMax: messageBytesMax)
      try checkText(from: start)
    }
    guard message.text.isComplete else { throw .invalidUTF8 }
    message.isOpen = false
    var bytes: [UInt8] = []
    swap(&bytes, &message.bytes)
    return message.isText ? .text(bytes) : .binary(bytes)
  }

  /// Parses a close frame's payload (RFC 6455 section 5.5.1).
  private static func close(_ payload: [UInt8]) throws(WebSocketFault) -> WebSocketClose {
    guard !payload.isEmpty else { return WebSocketClose(code: WebSocketClose.noCode) }
    guard payload.count >= 2 else { throw .truncatedCloseCode }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    guard WebSocketClose.canBeSent(code) else { throw .invalidCloseCode }
    guard let reason = String(validating: payload[2...], as: UTF8.self) else {
      throw .invalidCloseReason
    }
    return WebSocketClose(code: code, reason: reason)
  }
}
