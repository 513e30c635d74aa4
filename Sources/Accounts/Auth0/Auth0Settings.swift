import HTTPClient

/// Which Auth0 application this service is, and of which tenant.
package struct Auth0Settings: Sendable {
  /// Where the tenant is reached, its custom domain if it has one, with the last slash. It is also
  /// the issuer of the tokens.
  package let base: String
  /// The tenant's own domain, which the management API goes by even behind a custom one.
  package let tenant: String
  package let clientID: String
  package let clientSecret: String?
  /// The API that access tokens are for. Without one they would be opaque to us.
  package let audience: String
  /// The database connection with the passwords.
  package let connection: String

  package init(
    base: String, tenant: String, clientID: String, clientSecret: String?, audience: String,
    connection: String
  ) {
    self.base = base
    self.tenant = tenant
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.audience = audience
    self.connection = connection
  }

  var managementAudience: String { "https://\(tenant)/api/v2/" }

  /// - Parameter path: without its first slash.
  func url(_ path: String) throws(AccountFault) -> HTTPURL {
    do throws(HTTPURL.Fault) {
      return try HTTPURL(base + path)
    } catch {
      throw .misconfigured(cause: "\(base) is no http address")
    }
  }
}
