/// A 64-bit digest that is the same in every process and on every machine: it is stored.
///
/// Words of eight bytes are mixed by multiplication, as in wyhash's family; it tells whether a page
/// changed and withstands no adversary.
enum Digest {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { raw in
      var state: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(raw.count)
      var offset = 0
      while offset + 8 <= raw.count {
        let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        state = mixed(state ^ UInt64(littleEndian: word))
        offset += 8
      }
      var tail: UInt64 = 0
      while offset < raw.count {
        tail = tail << 8 | UInt64(raw[offset])
        offset += 1
      }
      return mixed(state ^ tail)
    }
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low ^ value >> 32
  }
}
