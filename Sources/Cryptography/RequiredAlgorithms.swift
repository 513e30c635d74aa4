import COpenSSL

/// The algorithms of OpenSSL that the service cannot work without. Where the machine's configuration
/// leaves some out, as one that allows FIPS-approved algorithms alone leaves out MD5, the first use of
/// one would end the process; asked for at the start, they are a fault that an operator can read.
package enum RequiredAlgorithms {
  /// The required algorithms that OpenSSL's configuration does not offer, by OpenSSL's names.
  package static func missing() -> [String] {
    // A failed fetch leaves its reasons in this thread's queue of errors.
    defer { ERR_clear_error() }
    return hashes.filter { isMissing(EVP_MD_fetch(nil, $0, nil), EVP_MD_free) }
      + ciphers.filter { isMissing(EVP_CIPHER_fetch(nil, $0, nil), EVP_CIPHER_free) }
      + codes.filter { isMissing(EVP_MAC_fetch(nil, $0, nil), EVP_MAC_free) }
      + derivations.filter { isMissing(EVP_KDF_fetch(nil, $0, nil), EVP_KDF_free) }
      + signatures.filter { isMissing(EVP_SIGNATURE_fetch(nil, $0, nil), EVP_SIGNATURE_free) }
  }

  private static let hashes = ["SHA2-256", "SHA1", "MD5"]
  private static let ciphers = ["AES-256-GCM"]
  private static let codes = ["HMAC"]
  private static let derivations = ["HKDF", "SCRYPT"]
  private static let signatures = ["RSA", "ECDSA"]

  private static func isMissing(
    _ algorithm: OpaquePointer?, _ free: (OpaquePointer?) -> Void
  ) -> Bool {
    free(algorithm)
    return algorithm == nil
  }
}
