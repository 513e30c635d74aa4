import Cryptography
import Model

/// The form in which the log shows the ids of users and devices.
package struct LoggedIDs: Sendable {
  private enum Form: Sendable {
    case plain
    case hashed(SymmetricKey)
    case off
  }

  /// The length of a digest, in bytes: two of a million ids are equal by chance once in 10^7 logs.
  private static let digestBytes = 8

  private let form: Form

  private init(_ form: Form) { self.form = form }

  package static let plain = Self(.plain)
  package static let off = Self(.off)

  /// As digests, which are equal for equal ids and cannot be guessed without the data folder's secret.
  package static func hashed(_ keys: KeyRing) -> Self { Self(.hashed(keys.key(for: .log))) }

  package var isOff: Bool { if case .off = form { true } else { false } }

  /// The shown form of an id; nil if ids are not shown.
  package func shown(_ id: String) -> String? {
    switch form {
    case .plain: return id
    case .hashed(let key):
      let code = HMAC<SHA256>.authenticationCode(for: Array(id.utf8), using: key)
      return Hexadecimal.encode(code.prefix(Self.digestBytes))
    case .off: return nil
    }
  }
}
