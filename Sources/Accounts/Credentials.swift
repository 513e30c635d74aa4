package import Model

/// A user's sign-in credentials. Their description omits the password.
package struct Credentials: Sendable, CustomStringConvertible, CustomReflectable {
  package let email: EmailAddress
  package let password: String

  package init(email: EmailAddress, password: String) {
    self.email = email
    self.password = password
  }

  package var description: String { "\(email), ********" }
  package var customMirror: Mirror { Mirror(self, children: ["email": email]) }
}

/// The email address of an account, in lower case for comparison.
///
/// It is parsed only as far as needed to keep accounts apart and control characters out; whether it
/// is deliverable is not checked.
package struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
  /// RFC 5321 section 4.5.3.1.3, less the angle brackets.
  private static let bytesMax = 254

  package let text: String

  /// Nil for an invalid address.
  package init?(_ text: String) {
    let text = text.lowercased()
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.bytesMax, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
      text.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace && !$0.isControl })
    else { return nil }
    self.text = text
  }

  package var description: String { text }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || 0x7F...0x9F ~= value }
}

/// A signed-in user's request to change the password. Its description contains no password.
package struct PasswordChange: Sendable, CustomStringConvertible, CustomReflectable {
  package let user: VerifiedUser
  /// The user's access token, for a provider that identifies the user by it.
  package let accessToken: String
  package let current: String
  package let new: String

  package init(user: VerifiedUser, accessToken: String, current: String, new: String) {
    self.user = user
    self.accessToken = accessToken
    self.current = current
    self.new = new
  }

  package var description: String { "a password change for \(user.id)" }
  package var customMirror: Mirror { Mirror(self, children: ["user": user.id]) }
}

/// The origin of a client's request.
package struct ClientOrigin: Hashable, Sendable {
  /// The client's address as seen by this service, or as reported by a trusted proxy; nil if
  /// unknown, as over a Unix socket.
  package let address: String?
  /// The network that the client's share of expensive work is counted for.
  package let network: ClientNetwork
  /// Whether the account has signed in from this network before.
  package let isKnown: Bool

  package init(address: String?, network: ClientNetwork, isKnown: Bool = false) {
    self.address = address
    self.network = network
    self.isKnown = isKnown
  }
}
