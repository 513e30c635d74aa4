package import Transport

/// A range of addresses in CIDR form, `10.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
  private let base: Bits
  package let prefixLength: Int
  package let description: String

  init(parsing text: String) throws(ValueRefusal) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let host = parts.first,
      let base = SocketAddress(numericHost: String(host), port: 0).flatMap(Bits.init)
    else { throw ValueRefusal() }
    guard let prefix = parts.count == 1 ? base.width : Int(decimal: parts[1]), prefix <= base.width
    else { throw ValueRefusal("its prefix length is 0 to \(base.width)") }
    self.base = base
    prefixLength = prefix
    description = text
    // `10.1.2.3/8` is more often a slip of the prefix than a wish for all of 10.0.0.0/8, and the
    // block decides whose word is believed.
    guard base.keeping(prefix) == base else {
      throw ValueRefusal("bits are set after the first \(prefix)")
    }
  }

  /// Whether a peer's address lies in the block; a path never does.
  package func contains(_ address: SocketAddress) -> Bool {
    guard let bits = Bits(address) else { return false }
    return bits.width == base.width && bits.keeping(prefixLength) == base
  }
}

extension AddressBlock {
  /// An address left-aligned in 128 bits, with the number of them that count.
  private struct Bits: Hashable {
    private let value: UInt128
    let width: Int

    init?(_ address: SocketAddress) {
      switch address {
      case .ipv4(let octets, _):
        self.init(UInt128(octets) << 96, width: 32)
      case .ipv6(0, let low, _, _) where low >> 32 == 0xFFFF:
        // RFC 4291 section 2.5.5.2: how a socket open to both families shows an IPv4 peer.
        self.init(UInt128(low & 0xFFFF_FFFF) << 96, width: 32)
      case .ipv6(let high, let low, _, _):
        self.init(UInt128(high) << 64 | UInt128(low), width: 128)
      case .unix:
        return nil
      }
    }

    private init(_ value: UInt128, width: Int) {
      self.value = value
      self.width = width
    }

    func keeping(_ count: Int) -> Bits {
      Bits((value >> (128 - count)) << (128 - count), width: width)
    }
  }
}
