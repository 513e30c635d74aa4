/// Why a secret was not sealed or opened.
package enum SealFault: Error, Hashable, Sendable {
  /// The key has another size than the cipher's.
  case cannotSeal
  /// Not a sealed value, or of a layout this version does not know.
  case malformed
  /// Altered, sealed for another context, or under another key: the secret is lost and must be
  /// made or asked for anew.
  case notOpened
}
