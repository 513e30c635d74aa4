import HTTPWire
import Transport

/// Who a request is counted for: by hashes, so that no credential is kept and all take as much room.
///
/// The hashes are keyed anew in each process, so nobody can choose whose place to share.
struct RateCaller: Equatable {
  /// A request's credentials, each told apart by itself.
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

  /// Of the `Authorization` field; nil where there is none.
  let authorization: UInt64?
  /// Of the `Device-Token` field; nil where there is none.
  let device: UInt64?
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
    authorization = Self.word(.authorization, of: head)
    device = Self.word(.device, of: head)
  }

  static func word(_ credential: Credential, of head: borrowing RequestHead) -> UInt64? {
    guard let value = credential.value(in: head) else { return nil }
    var hasher = Hasher()
    hasher.combine(credential)
    // However it is written: the name of a scheme has no case, and any run of blanks may stand
    // between it and the token (RFC 9110, 11.1 and 11.4).
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
