package import Cryptography
import Model

/// Keys for single purposes, derived from the one secret of the data folder (HKDF, RFC 5869), so
/// that no key does two jobs.
package struct KeyRing: Sendable {
  package enum Purpose: String, Sendable {
    case cursor
    /// Of the pages of collections.
    case page
    /// Of links that stand for a right to a file.
    case presign
    /// Turns accounts and the networks they signed in from into digests.
    case network
    /// Turns opaque tokens into subjects.
    case subject
    /// Turns forwarded headers that are credentials by their names into parts of scopes.
    case partition
    /// Of secrets that are stored sealed.
    case sealing
    /// Of what queued mutations are sent with.
    case credential
    /// Of the secrets of access keys.
    case s3
    /// Tells the secret from another, and opens nothing.
    case check
  }

  private let root: SymmetricKey

  /// - Parameter root: at least 32 random bytes.
  package init(root: some Collection<UInt8>) {
    self.root = SymmetricKey(data: Array(root))
  }

  /// Tells whether another start has the same secret; says nothing of it.
  package var digest: String {
    key(for: .check).withUnsafeBytes { Hexadecimal.encode(Array($0)) }
  }

  package func key(for purpose: Purpose) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: root, info: Array("larder/\(purpose.rawValue)".utf8), outputByteCount: 32)
  }
}
