import Accounts
import HTTPClient

/// Issuers whose keys are fetched.
struct RemoteIssuers {
  let exchange: JSONExchange

  func auth0(_ settings: Auth0Settings) -> TokenIssuer {
    .remote(
      name: settings.base, audience: settings.audience, isFirst: true,
      keys: auth0Keys(settings))
  }

  func auth0Keys(_ settings: Auth0Settings) -> RemoteKeys {
    keys(at: "\(settings.base).well-known/jwks.json", issuer: settings.base)
  }

  func others(_ settings: AccountsSettings) -> [TokenIssuer] {
    settings.issuers.values.sorted { $0.url?.text ?? "" < $1.url?.text ?? "" }.compactMap {
      guard let url = $0.url, let audience = $0.audience else { return nil }
      return .remote(
        name: url.text, audience: audience, isFirst: false,
        keys: keys(at: $0.keys?.text, issuer: url.text))
    }
  }

  func keys(at address: String?, issuer: String) -> RemoteKeys {
    let place = address.flatMap { try? HTTPURL($0) }.map(RemoteKeys.Place.keySet)
    return RemoteKeys(
      at: place ?? .discovery(issuer: issuer), exchange: exchange, clock: SystemClock.wall)
  }
}
