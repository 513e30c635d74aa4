import COpenSSL

/// A public key of OpenSSL's, checked when it was read.
package final class PublicKey: Sendable {
  // SAFETY: an EVP_PKEY never changes, so threads may share it (openssl-threads(7)).
  nonisolated(unsafe) private let pointer: OpaquePointer
  private let family: Family

  private enum Family {
    case rsa
    case p256
  }

  private init(_ pointer: OpaquePointer, _ family: Family) {
    self.pointer = pointer
    self.family = family
  }

  deinit { EVP_PKEY_free(pointer) }

  /// The sizes of RSA keys that are taken, in bits: RFC 7518 section 3.3 wants 2048 at least; what is
  /// larger than the upper bound makes every check expensive.
  static let rsaBits = 2048...8192

  /// An RSA key.
  ///
  /// - Parameters:
  ///   - modulus: big-endian.
  ///   - exponent: big-endian; odd, more than one, and of 32 bits at most.
  package static func rsa(modulus: [UInt8], exponent: [UInt8]) -> PublicKey? {
    let (modulus, exponent) = (modulus.drop { $0 == 0 }, exponent.drop { $0 == 0 })
    guard let first = modulus.first, let last = exponent.last, let low = modulus.last,
      rsaBits.contains(modulus.count * 8 - first.leadingZeroBitCount), exponent.count <= 4,
      last % 2 == 1, low % 2 == 1, Array(exponent) != [1]
    else { return nil }
    let (n, e) = (Array(modulus), Array(exponent))
    return larder_rsa_public_key(n, n.count, e, e.count).map { PublicKey($0, .rsa) }
  }

  /// A key on the curve P-256 (FIPS 186-5; secp256r1).
  ///
  /// - Parameters:
  ///   - x: the point's coordinate, big-endian, 32 bytes.
  ///   - y: likewise.
  /// - Returns: nil for a point that is not on the curve.
  package static func p256(x: [UInt8], y: [UInt8]) -> PublicKey? {
    guard x.count == 32, y.count == 32 else { return nil }
    return larder_p256_public_key([4] + x + y).map { PublicKey($0, .p256) }
  }

  /// Checks a signature with SHA-256: of RSA by PKCS #1 v1.5 (RFC 8017 section 8.2), of P-256 as the two
  /// numbers of 32 bytes each (RFC 7518 section 3.4).
  package func accepts(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    switch family {
    case .rsa:
      larder_verify(
        pointer, SHA256.implementation.pointer, signature, signature.count, text, text.count) == 1
    case .p256:
      signature.count == 64
        && larder_p256_verify(pointer, SHA256.implementation.pointer, signature, text, text.count)
          == 1
    }
  }
}

/// A private key on P-256 that signs with SHA-256.
package final class P256PrivateKey: Sendable {
  // SAFETY: as of ``PublicKey``.
  nonisolated(unsafe) private let pointer: OpaquePointer
  /// The public point's coordinates, 32 bytes each.
  package let x: [UInt8]
  package let y: [UInt8]
  /// Made once: checking a point costs more than checking a signature.
  package let publicKey: PublicKey

  /// - Parameter scalar: 32 bytes, big-endian: a number from one to the curve's order, exclusive.
  /// - Returns: nil for any other number.
  package init?(scalar: [UInt8]) {
    guard scalar.count == 32 else { return nil }
    var point = [UInt8](repeating: 0, count: 65)
    guard let pointer = larder_p256_private_key(scalar, &point) else { return nil }
    guard let publicKey = PublicKey.p256(x: Array(point[1...32]), y: Array(point[33...64])) else {
      EVP_PKEY_free(pointer)
      return nil
    }
    self.pointer = pointer
    self.publicKey = publicKey
    x = Array(point[1...32])
    y = Array(point[33...64])
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Signs by ECDSA: two numbers of 32 bytes each (RFC 7518 section 3.4).
  ///
  /// - Returns: nil where OpenSSL has no memory or no random numbers.
  package func sign(_ text: [UInt8]) -> [UInt8]? {
    var signature = [UInt8](repeating: 0, count: 64)
    let isSigned = larder_p256_sign(
      pointer, SHA256.implementation.pointer, text, text.count, &signature)
    return isSigned == 1 ? signature : nil
  }
}
