/// A range of addresses in CIDR form, `10.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
  package let base: IPAddress
  package let prefixBits: Int
  package let description: String

  init(parsing text: String) throws(ValueRefusal) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let base = parts.first.flatMap({ IPAddress(parsing: String($0)) }) else {
      throw ValueRefusal()
    }
    let bits = base.bytes.count * 8
    guard let prefix = parts.count == 1 ? bits : Int(decimal: parts[1]), prefix <= bits else {
      throw ValueRefusal("its prefix length is 0 to \(bits)")
    }
    self.base = base
    prefixBits = prefix
    description = text
    // `10.1.2.3/8` is more often a slip of the prefix than a wish for all of 10.0.0.0/8, and the
    // block decides whose word is believed.
    guard Self.masked(base.bytes, to: prefix) == base.bytes else {
      throw ValueRefusal("bits are set after the first \(prefix)")
    }
  }

  package func contains(_ address: IPAddress) -> Bool {
    address.bytes.count == base.bytes.count
      && Self.masked(address.bytes, to: prefixBits) == base.bytes
  }

  private static func masked(_ bytes: [UInt8], to bits: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let kept = min(max(bits - index * 8, 0), 8)
      return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
    }
  }
}
