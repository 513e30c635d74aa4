import Accounts
import Testing

@testable import Composition

struct AccountSettingsTests {
  @Test("Auth0 is called at its tenant's domain")
  func auth0IsReachedAtItsTenant() {
    var settings = AccountsSettings()
    settings.domain = "acme.eu.auth0.com"
    let auth0 = Auth0Settings(settings)
    #expect(auth0.base == "https://acme.eu.auth0.com/")
    #expect(auth0.tenant == "acme.eu.auth0.com")
    settings.provider = .auth0
    #expect(settings.asksOverTLS)
  }

  /// The management API uses the tenant, everything else the custom domain.
  @Test("Auth0 is called at its custom domain if there is one")
  func auth0IsReachedAtItsCustomDomain() throws {
    var settings = AccountsSettings()
    settings.domain = "acme.eu.auth0.com"
    settings.issuer = try ServiceURL(parsing: "https://login.acme.example/", schemes: ["https"])
    let auth0 = Auth0Settings(settings)
    #expect(auth0.base == "https://login.acme.example/")
    #expect(auth0.tenant == "acme.eu.auth0.com")
  }

  @Test("The issuer of local tokens is the service's URL by default")
  func localIssuer() throws {
    var settings = Settings(folder: "/tmp")
    #expect(LocalAccountRules(settings).issuer == "larder")
    settings.publicURL = try ServiceURL(parsing: "https://api.example.com", schemes: ["https"])
    #expect(LocalAccountRules(settings).issuer == "https://api.example.com")
    settings.accounts.issuer = try ServiceURL(
      parsing: "https://id.example.com", schemes: ["https"])
    #expect(LocalAccountRules(settings).issuer == "https://id.example.com")
    #expect(!settings.accounts.asksOverTLS)
  }
}
