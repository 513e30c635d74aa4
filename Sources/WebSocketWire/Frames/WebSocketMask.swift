/// Masking of payloads (RFC 6455 section 5.3), eight bytes at a time.
enum WebSocketMask {
  /// Masks or unmasks bytes in place.
  ///
  /// - Parameters:
  ///   - mask: as it is in memory.
  ///   - offset: the index of the first byte in its frame's payload.
  static func apply(_ mask: UInt32, from offset: Int, to bytes: UnsafeMutableRawBufferPointer) {
    let turned = rotated(mask, by: offset)
    let wide = UInt64(turned) << 32 | UInt64(turned)
    var index = 0
    while index &+ 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      bytes.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    withUnsafeBytes(of: turned) { key in
      while index < bytes.count {
        bytes[index] ^= key[index & 3]
        index &+= 1
      }
    }
  }

  /// The mask whose first byte in memory is the one for `offset`.
  private static func rotated(_ mask: UInt32, by offset: Int) -> UInt32 {
    let bits = UInt32(offset & 3) * 8
    guard bits > 0 else { return mask }
    let value = UInt32(littleEndian: mask)
    return (value >> bits | value << (32 - bits)).littleEndian
  }
}
