import COpenSSL

/// One key for session tickets, wiped when nobody needs it any more.
final class TLSTicketKey: Sendable {
  static let nameBytes = 16
  /// Half for the cipher, half for the authentication.
  static let secretBytes = 64
  /// A block of AES.
  static let ivBytes: Int32 = 16

  /// From then on it only opens.
  let sealsUntil: LoopInstant
  // SAFETY: filled in init, wiped in deinit, only read in between.
  nonisolated(unsafe) private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Nil if there is no randomness.
  init?(sealsUntil: LoopInstant) {
    self.sealsUntil = sealsUntil
    bytes = .allocate(capacity: Self.nameBytes + Self.secretBytes)
    bytes.initialize(repeating: 0)
    guard RAND_bytes(bytes.baseAddress, Int32(bytes.count)) == 1 else { return nil }
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  /// Makes the contexts of one ticket ready. Returns whether that was possible.
  func prepare(
    cipher: OpaquePointer?, mac: OpaquePointer?, iv: UnsafePointer<UInt8>, seals: Bool
  ) -> Bool {
    withExtendedLifetime(self) {
      let secret = bytes.baseAddress.map { $0 + Self.nameBytes }
      return larder_ticket_contexts_init(cipher, mac, secret, iv, seals ? 1 : 0) == 1
    }
  }

  func writeName(to place: UnsafeMutablePointer<UInt8>) {
    withExtendedLifetime(self) {
      for (index, byte) in name.enumerated() { place[index] = byte }
    }
  }

  func isNamed(_ other: UnsafeRawBufferPointer) -> Bool {
    withExtendedLifetime(self) { name.elementsEqual(other) }
  }

  /// Tells it from others; goes with the ticket in clear.
  private var name: UnsafeMutableBufferPointer<UInt8>.SubSequence { bytes[..<Self.nameBytes] }
}
