/// The stored row of a user whose password Larder keeps.
package struct Account: Hashable, Sendable {
  /// The subject of the user's tokens.
  package let id: String
  /// In normalised spelling, which comparisons use.
  package let email: String
  /// The hash with its algorithm and parameters: all that checking a password needs.
  package let passwordHash: String
  package let created: Timestamp
  /// Whether an operator has disabled the account.
  package let isDisabled: Bool

  package init(
    id: String, email: String, passwordHash: String, created: Timestamp, isDisabled: Bool = false
  ) {
    self.id = id
    self.email = email
    self.passwordHash = passwordHash
    self.created = created
    self.isDisabled = isDisabled
  }
}

/// A local account as operators see it.
package struct AccountSummary: Hashable, Sendable {
  package let id: String
  package let email: String
  package let created: Timestamp
  /// The number of sessions that have not expired.
  package let sessions: Int
  /// When a token of these sessions was last issued; nil without a session.
  package let lastUsed: Timestamp?
  /// Whether an operator has disabled the account.
  package let isDisabled: Bool

  package init(
    id: String, email: String, created: Timestamp, sessions: Int, lastUsed: Timestamp?,
    isDisabled: Bool = false
  ) {
    self.id = id
    self.email = email
    self.created = created
    self.sessions = sessions
    self.lastUsed = lastUsed
    self.isDisabled = isDisabled
  }
}

/// The network that a request came from, as rate limits count it.
///
/// An IPv4 network is one address. The owner of an IPv6 address has all of its /64, and often the
/// whole /48, so both have a name.
package struct ClientNetwork: Hashable, Sendable {
  /// The IPv4 address or the IPv6 /64.
  package let name: String
  /// The IPv4 address or the IPv6 /48.
  package let block: String

  package init(name: String, block: String) {
    self.name = name
    self.block = block
  }

  /// Creates a network that is its own block.
  package init(_ name: String) {
    self.init(name: name, block: name)
  }
}

/// The stored row of a token-signing key, encrypted.
package struct SealedKey: Hashable, Sendable {
  package let id: String
  package let sealed: [UInt8]
  package let created: Timestamp

  package init(id: String, sealed: [UInt8], created: Timestamp) {
    self.id = id
    self.sealed = sealed
    self.created = created
  }
}

/// Recognises names of header fields, parameters and settings whose values are credentials.
package enum CredentialName {
  private static let words = [
    "token", "secret", "key", "session", "auth", "cookie", "credential", "passw", "signature",
    "jwt", "bearer",
  ]

  /// Returns whether a name suggests a credential, as `X-Api-Key` and `X-Session-Token` do.
  /// Errs on the side of matching: a value that is treated as a credential is stored as a digest.
  package static func matches(_ name: String) -> Bool {
    let name = name.lowercased()
    return words.contains { name.contains($0) }
  }
}
