package import Cryptography
package import Model

/// Encrypts secrets that must be stored and used again, such as a queued mutation's credential or
/// the key that signs tokens: AES-256-GCM (NIST SP 800-38D) with a key that is not in the database.
///
/// A sealed value opens only for the context it was sealed for, so an attacker who can write the
/// database cannot move one secret into another's place. Its format is one byte for the layout, the
/// nonce, the ciphertext, and the tag. Nonces are random: 96 bits are safe for the 2^32 values that
/// one key may seal.
package struct Sealer: Sendable {
  private static let layout: UInt8 = 1

  private let key: SymmetricKey
  private let random: RandomBytes

  /// - Parameter key: 256 bits, used for this purpose only.
  package init(key: SymmetricKey, random: RandomBytes) {
    self.key = key
    self.random = random
  }

  /// - Parameter context: the secret's purpose and owner, such as `session:s_1`; it is not stored.
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

/// Why a secret could not be sealed or opened.
package enum SealFault: Error, Hashable, Sendable {
  /// The key's size does not match the cipher.
  case cannotSeal
  /// Not a sealed value, or of an unknown layout.
  case malformed
  /// Altered, sealed for another context, or sealed under another key: the secret is lost and must
  /// be created or entered again.
  case notOpened
}
