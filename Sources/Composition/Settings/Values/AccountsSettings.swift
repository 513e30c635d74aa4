/// Who keeps the users, and how their tokens are recognised.
package struct AccountsSettings: Sendable {
  package enum Provider: String, CaseIterable, Sendable {
    case local
    case auth0
  }

  package enum SignUp: String, CaseIterable, Sendable {
    case open
    case admin
  }

  /// Another service whose tokens are believed.
  package struct Issuer: Sendable {
    package var url: ServiceURL?
    package var audience: String?
    /// Nil = where the issuer's metadata says.
    package var keys: ServiceURL?
  }

  package var provider = Provider.local
  package var issuer: ServiceURL?
  package var audience: String?
  package var clientID: String?
  package var clientSecret: Secret?
  package var domain: String?
  package var connection = "Username-Password-Authentication"
  package var signUp = SignUp.open
  package var accessLifetime = Duration.seconds(900)
  package var refreshLifetime = Duration.seconds(30 * 86_400)
  package var refreshLeeway = Duration.seconds(30)
  /// The base-2 logarithm of scrypt's N.
  package var passwordCost = 15
  package var triesPerMinute = 10
  package var callsPerMinute = 60
  /// By a name of the writer's choice.
  package var issuers: [String: Issuer] = [:]
}
