package import Cryptography
package import Model

/// Seals secrets that must be stored and used again, such as a queued change's credential or the key
/// that signs tokens: AES-256-GCM (NIST SP 800-38D) under a key that is not in the database.
///
/// A sealed value opens only for the context it was sealed for, so nobody who can write the
/// database can move one secret into another's place. Its form is one byte for the layout, the
/// nonce, what is sealed, and the tag. Nonces are random: 96 bits are safe for the 2^32 values that
/// one key may seal.
package struct Sealer: Sendable {
  private static let layout: UInt8 = 1

  private let key: SymmetricKey
  private let random: RandomBytes

  /// - Parameter key: of 256 bits, and of this purpose alone.
  package init(key: SymmetricKey, random: RandomBytes) {
    self.key = key
    self.random = random
  }

  /// - Parameter context: what the secret is and whose, as `session:s_1`; it is not stored.
  package func seal(
    _ secret: some Collection<UInt8>, for context: String
  ) throws(SealFault) -> [UInt8] {
    do {
      let nonce = random.bytes(AES.GCM.nonceByteCount)
      let box = try AES.GCM.seal(
        Array(secret), using: key, nonce: nonce, authenticating: Self.authenticated(context))
      return [Self.layout] + nonce + box.ciphertext + box.tag
    } catch {
      throw .cannotSeal
    }
  }

  package func open(
    _ sealed: some Collection<UInt8>, for context: String
  ) throws(SealFault) -> [UInt8] {
    let bytes = Array(sealed)
    let (nonceCount, tagCount) = (AES.GCM.nonceByteCount, AES.GCM.tagByteCount)
    guard bytes.count >= 1 + nonceCount + tagCount, bytes[0] == Self.layout
    else { throw .malformed }
    do {
      return try AES.GCM.open(
        Array(bytes.dropFirst(1 + nonceCount).dropLast(tagCount)), tag: bytes.suffix(tagCount),
        using: key, nonce: Array(bytes[1...nonceCount]),
        authenticating: Self.authenticated(context))
    } catch {
      throw .notOpened
    }
  }

  private static func authenticated(_ context: String) -> [UInt8] {
    [layout] + Array(context.utf8)
  }
}
