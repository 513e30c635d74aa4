import Model

/// The GraphQL API behind this service, and what is sent to it.
package struct UpstreamSettings: Sendable {
  package enum Dialect: String, CaseIterable, Sendable {
    case plain
    case hasura
    case appsync
  }

  package var url: ServiceURL?
  package var websocketURL: ServiceURL?
  package var dialect = Dialect.plain
  /// Sent with every call that carries no caller's credential; names in lower case.
  package var headers: [String: Secret] = [:]
  /// Lower-case names of the caller's fields that are passed on.
  package var forward: [String] = []
  /// Whether tokens that were issued here replace the service's own credentials.
  package var forwardsOwnTokens = false
  /// Hasura's admin secret, or AppSync's API key.
  package var secret: Secret?
  package var timeout = Duration.seconds(10)
  /// Calls under way at once.
  package var concurrencyMax = 64
  /// Objects and lists inside each other in one response.
  package var responseDepthMax = 512

  /// Whether what the service sends by itself opens something, as far as names tell.
  package var hasOwnCredential: Bool {
    secret != nil || headers.keys.contains(where: CredentialName.matches)
  }

  /// Calls that carry no caller's credential go upstream with the service's own rights.
  package var hasServiceCredentials: Bool { secret != nil || !headers.isEmpty }
}
