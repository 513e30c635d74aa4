import HTTPWire
import Transport

/// The caller that a request is counted for, as hashes: no credential is stored, and all callers take
/// the same space.
///
/// The hashes are seeded per process, so callers cannot choose whose place they share.
struct RateCaller: Equatable {
  /// A credential of a request, counted separately.
  enum Credential {
    case authorization
    case device

    fileprivate func value(in head: borrowing RequestHead) -> ArraySlice<UInt8>? {
      switch self {
      case .authorization: head["authorization"]
      case .device: head["device-token"]
      }
    }
  }

  /// The hash of the `Authorization` field; nil without one.
  let authorization: UInt64?
  /// The hash of the `Device-Token` field; nil without one.
  let device: UInt64?
  let address: UInt64

  init(head: borrowing RequestHead, address: SocketAddress) {
    var hasher = Hasher()
    switch address {
    case .ipv4(let bits, _):
      hasher.combine(bits)
    case .ipv6(0, let low, _, _) where low >> 32 == 0xFFFF:
      // RFC 4291 2.5.5.2: an IPv4 peer of a dual-stack socket.
      hasher.combine(UInt32(truncatingIfNeeded: low))
    case .ipv6(let network, _, _, _):
      // The owner of one address of a /64 network owns all of them.
      hasher.combine(network)
    case .unix:
      hasher.combine("unix")
    }
    self.address = Self.word(hasher)
    authorization = Self.word(.authorization, of: head)
    device = Self.word(.device, of: head)
  }

  static func word(_ credential: Credential, of head: borrowing RequestHead) -> UInt64? {
    guard let value = credential.value(in: head) else { return nil }
    var hasher = Hasher()
    hasher.combine(credential)
    // Normalised: the scheme is case-insensitive, and any number of blanks can separate it from the
    // token (RFC 9110, 11.1 and 11.4).
    let end = value.firstIndex(where: isBlank) ?? value.startIndex
    for byte in value[..<end] {
      hasher.combine((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
    }
    value[end...].drop(while: isBlank).withUnsafeBytes { hasher.combine(bytes: $0) }
    return word(hasher)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func word(_ hasher: Hasher) -> UInt64 {
    UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
