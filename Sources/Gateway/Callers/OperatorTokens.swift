import Cryptography
import Model

/// The rights of an operator.
package enum OperatorRole: String, Hashable, Sendable {
  /// The holder of the admin token.
  case admin
  /// The holder of the viewer token, who only reads.
  case viewer
}

/// The tokens of the settings that make a caller an operator, as digests.
struct OperatorTokens: Sendable {
  private let admin: [UInt8]?
  private let viewer: [UInt8]?

  init(admin: String?, viewer: String?) {
    self.admin = admin.map(Self.digest)
    self.viewer = viewer.map(Self.digest)
  }

  /// Whether the settings have an admin token.
  var isOn: Bool { admin != nil }

  /// Returns the role of a token; nil for another token. The time does not depend on the token's text.
  func role(of token: String) -> OperatorRole? {
    role(ofDigest: Self.digest(token))
  }

  /// Returns the role of the token with this digest; nil for another one.
  func role(ofDigest digest: [UInt8]) -> OperatorRole? {
    guard isOn else { return nil }
    let isAdmin = admin.map { constantTimeEqual($0, digest) } ?? false
    let isViewer = viewer.map { constantTimeEqual($0, digest) } ?? false
    return isAdmin ? .admin : isViewer ? .viewer : nil
  }

  static func digest(_ token: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(token.utf8)))
  }
}
