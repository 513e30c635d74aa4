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
