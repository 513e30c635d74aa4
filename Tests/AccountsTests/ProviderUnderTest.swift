import Accounts
import Auth0Double
import Cryptography
import HTTPClient
import Logging
import Model
import Transport

/// A provider with its environment and a verifier of its tokens.
struct ProviderUnderTest {
  enum Kind: CaseIterable, Sendable {
    case local
    case auth0
  }

  let provider: any AccountProvider
  let verifier: TokenVerifier
  let clock: TestClock
  /// Retained, because the folder is removed with it.
  private let folder: StoreFolder?

  static func make(_ kind: Kind) async throws -> ProviderUnderTest {
    switch kind {
    case .local:
      let local = try await LocalSetting()
      return ProviderUnderTest(
        provider: try await local.provider(), verifier: try await local.verifier(),
        clock: local.clock, folder: local.folder)
    case .auth0:
      let clock = TestClock()
      let fake = try await FakeAuth0 { clock.seconds }
      let issuer = TokenIssuer.remote(
        name: FakeAuth0.base, audience: FakeAuth0.audience, isFirst: true,
        keys: RemoteKeys(
          at: .keySet(try HTTPURL("\(FakeAuth0.base).well-known/jwks.json")),
          exchange: fake.exchange, clock: clock.clock))
      return ProviderUnderTest(
        provider: Auth0Accounts(
          settings: FakeAuth0.settings(), exchange: fake.exchange, clock: clock.clock,
          logger: Logger(label: "test")),
        verifier: TokenVerifier(
          issuers: [issuer], clock: clock.clock, pool: BlockingPool(threadsMax: 1)),
        clock: clock, folder: nil)
    }
  }
}

extension Credentials {
  static func of(_ name: String, _ password: String = "correct horse") throws -> Credentials {
    guard let email = EmailAddress("\(name)@example.com") else { throw AccountFault.denied }
    return Credentials(email: email, password: password)
  }
}

extension ClientOrigin {
  static let test = ClientOrigin(
    address: "203.0.113.7", network: ClientNetwork("203.0.113.7"))
}
