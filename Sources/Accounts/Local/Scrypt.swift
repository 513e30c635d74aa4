import COpenSSL

/// scrypt (RFC 7914) by OpenSSL. It blocks for a good part of a second and takes megabytes, so it
/// belongs on a pool's thread, a few at a time.
enum Scrypt {
  /// What OpenSSL takes beside the large table.
  private static let extraBytes = 4 * 1024 * 1024

  /// Nil where there is no memory for it.
  static func derive(
    _ password: String, salt: [UInt8], cost: ScryptCost, byteCount: Int
  ) -> [UInt8]? {
    let rounds = UInt64(1) << UInt64(cost.exponent)
    let memory =
      128 * UInt64(cost.blockFactor) * (rounds + UInt64(cost.parallel)) + UInt64(extraBytes)
    var password = password
    var key = [UInt8](repeating: 0, count: byteCount)
    let isDerived = password.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        // Without a pointer OpenSSL takes the password for absent.
        withUnsafePointer(to: CChar(0)) { empty in
          EVP_PBE_scrypt(
            text.baseAddress ?? empty, text.count, salt, salt.count, rounds,
            UInt64(cost.blockFactor), UInt64(cost.parallel), memory, &key, key.count)
        }
      }
    }
    return isDerived == 1 ? key : nil
  }
}
