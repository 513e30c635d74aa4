import Cryptography

/// The key derived from a secret for one scope. It can be cached until the scope's day ends.
package struct SignatureKey: Sendable {
  package let scope: SignatureScope
  private let key: SymmetricKey

  package init(secret: String, scope: SignatureScope) {
    self.scope = scope
    var key = SymmetricKey(data: Array("AWS4\(secret)".utf8))
    for text in [scope.day, scope.region, scope.service, "aws4_request"] {
      key = SymmetricKey(
        data: HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }
    self.key = key
  }

  /// The signature of a string to sign, as 64 hexadecimal digits.
  package func sign(_ text: String) -> String {
    SignatureDigest.hex(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
  }

  /// Verifies a signature in constant time.
  package func isSignature(_ signature: some StringProtocol, of text: String) -> Bool {
    let (given, right) = (Array(signature.utf8), Array(sign(text).utf8))
    guard given.count == right.count else { return false }
    return zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
