/// Who keeps the users, and how their tokens are recognised.
package struct AccountsSettings: Sendable {
  package enum Provider: String, CaseIterable, Sendable {
    case local
    case auth0
  }

  package var provider = Provider.local
  package var issuer: ServiceURL?
  package var audience: String?
  package var clientID: String?
  package var clientSecret: Secret?
  package var domain: String?
}
