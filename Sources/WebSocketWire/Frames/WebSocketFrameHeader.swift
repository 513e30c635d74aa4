/// A frame's header (RFC 6455 section 5.2).
struct WebSocketFrameHeader: Equatable {
  enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue >= 0x8 }
  }

  /// Bytes of the longest header: a length of eight bytes, and a mask.
  static let bytesMax = 14
  /// Bytes of a control frame's payload.
  static let controlBytesMax = 125

  private static let finalBit: UInt8 = 0x80
  private static let compressedBit: UInt8 = 0x40
  private static let otherReservedBits: UInt8 = 0x30
  private static let maskBit: UInt8 = 0x80

  var opcode: Opcode
  var isFinal: Bool
  /// RSV1, which permessage-deflate gives its meaning (RFC 7692 section 6).
  var isCompressed: Bool
  /// The mask as it is in memory; nil for a frame of a server.
  var mask: UInt32?
  /// Bytes of the payload.
  var length: Int
  /// Bytes of the header itself.
  var size: Int

  /// What decides whether a header is valid.
  struct Context {
    /// The role of the side that receives.
    var role: WebSocketRole
    var allowsCompression: Bool
    /// Whether a message has begun whose last fragment has not arrived.
    var isInsideMessage: Bool
  }

  /// Parses the header at the start of `bytes`; nil if more bytes are needed. A fault is reported at the
  /// first byte that shows it.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, in context: Context
  ) throws(WebSocketFault) -> WebSocketFrameHeader? {
    guard let first = bytes.first else { return nil }
    let opcode = try opcode(first, in: context)
    guard bytes.count >= 2 else { return nil }
    let second = bytes[1]
    let isMasked = second & maskBit != 0
    switch context.role {
    case .server where !isMasked: throw .unmaskedFrame
    case .client where isMasked: throw .maskedFrame
    default: break
    }
    var size = 2
    var length = Int(second & ~maskBit)
    if opcode.isControl, length > controlBytesMax { throw .controlFrameTooLong }
    if length > 125 {
      guard let extended = try extendedLength(bytes, isLong: length == 127) else { return nil }
      size += length == 127 ? 8 : 2
      length = extended
    }
    var mask: UInt32?
    if isMasked {
      guard bytes.count >= size + 4 else { return nil }
      mask = bytes.loadUnaligned(fromByteOffset: size, as: UInt32.self)
      size += 4
    }
    return WebSocketFrameHeader(
      opcode: opcode, isFinal: first & finalBit != 0, isCompressed: first & compressedBit != 0,
      mask: mask, length: length, size: size)
  }

  private static func opcode(
    _ byte: UInt8, in context: Context
  ) throws(WebSocketFault) -> Opcode {
    guard byte & otherReservedBits == 0 else { throw .reservedBits }
    guard let opcode = Opcode(rawValue: byte & 0x0F) else { throw .reservedOpcode }
    if byte & compressedBit != 0 {
      // Only a message's first frame has it (RFC 7692 section 6.1).
      guard context.allowsCompression, opcode == .text || opcode == .binary else {
        throw .reservedBits
      }
    }
    switch opcode {
    case .continuation where !context.isInsideMessage: throw .unexpectedContinuation
    case .text where context.isInsideMessage, .binary where context.isInsideMessage:
      throw .missingContinuation
    case .close where byte & finalBit == 0, .ping where byte & finalBit == 0,
      .pong where byte & finalBit == 0:
      throw .fragmentedControlFrame
    default: return opcode
    }
  }

  /// Parses the length in the two or eight bytes after the first two; nil if they are incomplete.
  private static func extendedLength(
    _ bytes: UnsafeRawBufferPointer, isLong: Bool
  ) throws(WebSocketFault) -> Int? {
    guard isLong else {
      guard bytes.count >= 4 else { return nil }
      let length = Int(
        UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
      guard length > 125 else { throw .lengthNotMinimal }
      return length
    }
    if bytes.count > 2, bytes[2] & 0x80 != 0 { throw .lengthTooLarge }
    guard bytes.count >= 10 else { return nil }
    let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
    guard length > UInt16.max else { throw .lengthNotMinimal }
    return Int(length)
  }

  /// The header's size for a payload.
  static func size(payloadBytes: Int, isMasked: Bool) -> Int {
    (payloadBytes <= 125 ? 2 : payloadBytes <= 0xFFFF ? 4 : 10) + (isMasked ? 4 : 0)
  }

  /// Writes the header to the start of `output`, which has room for ``size``.
  func write(to output: UnsafeMutableRawBufferPointer) {
    output[0] =
      opcode.rawValue | (isFinal ? Self.finalBit : 0) | (isCompressed ? Self.compressedBit : 0)
    let maskBit = mask == nil ? 0 : Self.maskBit
    var offset = 2
    if length <= 125 {
      output[1] = maskBit | UInt8(length)
    } else if length <= 0xFFFF {
      output[1] = maskBit | 126
      output.storeBytes(of: UInt16(length).bigEndian, toByteOffset: 2, as: UInt16.self)
      offset = 4
    } else {
      output[1] = maskBit | 127
      output.storeBytes(of: UInt64(length).bigEndian, toByteOffset: 2, as: UInt64.self)
      offset = 10
    }
    if let mask { output.storeBytes(of: mask, toByteOffset: offset, as: UInt32.self) }
  }
}
