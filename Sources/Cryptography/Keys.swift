import COpenSSL

/// A secret that both sides have. Its bytes are overwritten when the last copy is gone.
package struct SymmetricKey: Sendable {
  // SAFETY: the bytes are written before the object is shared, and after the last use.
  private final class Storage: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ data: some Collection<UInt8>) {
      bytes = .allocate(byteCount: data.count, alignment: 1)
      bytes.copyBytes(from: data)
    }

    deinit {
      OPENSSL_cleanse(bytes.baseAddress, bytes.count)
      bytes.deallocate()
    }
  }

  private let storage: Storage

  package init(data: some Collection<UInt8>) {
    storage = Storage(data)
  }

  package var byteCount: Int { storage.bytes.count }

  package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    // The storage must outlive the use of its pointer.
    try withExtendedLifetime(storage) { try body(UnsafeRawBufferPointer(storage.bytes)) }
  }
}

/// A keyed-hash message authentication code (RFC 2104).
package enum HMAC<Function: HashFunction> {
  package static func authenticationCode(
    for data: some Collection<UInt8>, using key: SymmetricKey
  ) -> Function.Digest {
    let data = Array(data)
    return Function.Digest { code in
      key.withUnsafeBytes { key in
        larder_hmac(
          Authentication.hmac.pointer, Function.implementation.name, key.baseAddress, key.count,
          data, data.count, code, Function.implementation.byteCount) == 1
      }
    }
  }

  /// Compares in a time that depends on the lengths alone.
  package static func isValidAuthenticationCode(
    _ code: some Collection<UInt8>, authenticating data: some Collection<UInt8>,
    using key: SymmetricKey
  ) -> Bool {
    let (given, right) = (Array(code), Array(authenticationCode(for: data, using: key)))
    return given.count == right.count && CRYPTO_memcmp(given, right, right.count) == 0
  }
}

/// Key derivation by HMAC (RFC 5869).
package enum HKDF<Function: HashFunction> {
  /// - Parameter outputByteCount: at most 255 hashes' length.
  package static func deriveKey(
    inputKeyMaterial: SymmetricKey, salt: [UInt8] = [], info: [UInt8], outputByteCount: Int
  ) -> SymmetricKey {
    precondition((1...255 * Function.implementation.byteCount).contains(outputByteCount))
    var key = [UInt8](repeating: 0, count: outputByteCount)
    let isDerived = inputKeyMaterial.withUnsafeBytes { material in
      larder_hkdf(
        Authentication.hkdf.pointer, Function.implementation.name, material.baseAddress,
        material.count, salt, salt.count, info, info.count, &key, key.count)
    }
    precondition(isDerived == 1, "OpenSSL has no memory for HKDF")
    defer { OPENSSL_cleanse(&key, key.count) }
    return SymmetricKey(data: key)
  }
}

private struct Authentication: Sendable {
  static let hmac = Authentication("HMAC", EVP_MAC_fetch(nil, "HMAC", nil))
  static let hkdf = Authentication("HKDF", EVP_KDF_fetch(nil, "HKDF", nil))

  // SAFETY: as of ``HashImplementation``.
  nonisolated(unsafe) let pointer: OpaquePointer

  private init(_ name: String, _ pointer: OpaquePointer?) {
    guard let pointer else { fatalError("OpenSSL's configuration offers no \(name)") }
    self.pointer = pointer
  }
}

/// A password-based key derivation that takes memory (RFC 7914). It blocks for a good part of a second
/// and takes megabytes, so it belongs on a pool's thread, a few at a time.
package enum Scrypt {
  /// What OpenSSL takes beside the large table.
  private static let extraBytes = 4 * 1024 * 1024

  /// - Parameters:
  ///   - exponent: of two; the standard's N is `1 << exponent`.
  ///   - blockFactor: the standard's r.
  ///   - parallel: the standard's p.
  /// - Returns: nil where there is no memory for it.
  package static func derive(
    _ password: String, salt: [UInt8], exponent: Int, blockFactor: Int, parallel: Int,
    byteCount: Int
  ) -> [UInt8]? {
    let rounds = UInt64(1) << UInt64(exponent)
    let memory =
      128 * UInt64(blockFactor) * (rounds + UInt64(parallel)) + UInt64(extraBytes)
    var password = password
    var key = [UInt8](repeating: 0, count: byteCount)
    let isDerived = password.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        // Without a pointer OpenSSL takes the password for absent.
        withUnsafePointer(to: CChar(0)) { empty in
          EVP_PBE_scrypt(
            text.baseAddress ?? empty, text.count, salt, salt.count, rounds, UInt64(blockFactor),
            UInt64(parallel), memory, &key, key.count)
        }
      }
    }
    guard isDerived == 1 else {
      // Another call of this thread must not find this failure in OpenSSL's queue.
      ERR_clear_error()
      return nil
    }
    return key
  }
}
