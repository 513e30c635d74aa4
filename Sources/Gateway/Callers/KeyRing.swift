package import Cryptography
import Model

/// Derives a key for each purpose from the data folder's secret (HKDF, RFC 5869), so that no key
/// has two purposes.
package struct KeyRing: Sendable {
  package enum Purpose: String, Sendable {
    case cursor
    /// Page tokens of collections.
    case page
    /// Positions of live streams.
    case live
    /// Presigned file URLs.
    case presign
    /// Digests of accounts and of the networks they signed in from.
    case network
    /// Subjects derived from opaque tokens.
    case subject
    /// Digests of forwarded headers that are credentials by their names.
    case partition
    /// Secrets that are stored sealed.
    case sealing
    /// Credentials of queued mutations.
    case credential
    /// Secrets of S3 access keys.
    case s3
    /// Content of files on the disk.
    case files
    /// Backups of the database.
    case backup
    /// Digests of the ids of users and devices in the log.
    case log
    /// Identifies the secret; grants nothing.
    case check
  }

  private let root: SymmetricKey

  /// - Parameter root: at least 32 random bytes.
  package init(root: some Collection<UInt8>) {
    self.root = SymmetricKey(data: Array(root))
  }

  /// Identifies the secret without revealing it, to detect that it was replaced between starts.
  package var digest: String {
    key(for: .check).withUnsafeBytes { Hexadecimal.encode(Array($0)) }
  }

  package func key(for purpose: Purpose) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: root, info: Array("larder/\(purpose.rawValue)".utf8), outputByteCount: 32)
  }
}
