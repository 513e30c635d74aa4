import HTTPWire
import Transport

/// Who a request is counted for: by hashes, so that no credential is kept and all take as much room.
///
/// The hashes are keyed anew in each process, so nobody can choose whose place to share.
struct RateCaller: Equatable {
  /// Of the credentials; nil where there are none.
  let credentials: UInt64?
  let address: UInt64

  init(head: borrowing RequestHead, address: SocketAddress) {
    var hasher = Hasher()
    switch address {
    case .ipv4(let bits, _):
      hasher.combine(bits)
    case .ipv6(0, let low, _, _) where low >> 32 == 0xFFFF:
      // RFC 4291 2.5.5.2: an IPv4 peer of a socket that is open to both families.
      hasher.combine(UInt32(truncatingIfNeeded: low))
    case .ipv6(let network, _, _, _):
      // Whoever has one address of a network has all of them.
      hasher.combine(network)
    case .unix:
      hasher.combine("unix")
    }
    self.address = Self.word(hasher)
    let authorization = head["authorization"]
    let device = head["device-token"]
    guard authorization != nil || device != nil else {
      credentials = nil
      return
    }
    hasher = Hasher()
    for credential in [authorization, device] {
      hasher.combine(credential?.count ?? -1)
      credential?.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
    credentials = Self.word(hasher)
  }

  private static func word(_ hasher: Hasher) -> UInt64 {
    UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
