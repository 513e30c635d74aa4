/// Settings for local accounts.
package struct LocalAccountRules: Sendable {
  /// `iss` of the tokens.
  package var issuer: String
  /// `aud` of the tokens; nil for none.
  package var audience: String?
  /// The lifetime of an access token. It cannot be revoked, so it should be short.
  package var accessLifetime: Duration
  /// The lifetime of a session that is not refreshed.
  package var refreshLifetime: Duration
  /// How long a used refresh token is accepted again, for a client that lost the response.
  package var refreshLeeway: Duration

  package init(
    issuer: String, audience: String?, accessLifetime: Duration, refreshLifetime: Duration,
    refreshLeeway: Duration
  ) {
    self.issuer = issuer
    self.audience = audience
    self.accessLifetime = accessLifetime
    self.refreshLifetime = refreshLifetime
    self.refreshLeeway = refreshLeeway
  }
}

/// The rules for new passwords (NIST SP 800-63B section 3.1.1): long enough, and not the email
/// address.
enum PasswordRules {
  private static let charactersMin = 8
  /// scrypt accepts any length; this bounds the input.
  private static let bytesMax = 1_024

  /// - Parameter email: nil without a valid address.
  /// - Returns: the broken rules.
  static func broken(by password: String, email: String?) -> [String] {
    var rules: [String] = []
    if password.count < charactersMin {
      rules.append("It must have at least \(charactersMin) characters.")
    }
    if password.utf8.count > bytesMax { rules.append("It must have at most \(bytesMax) bytes.") }
    if password.lowercased() == email { rules.append("It must not be the email address.") }
    return rules
  }
}
