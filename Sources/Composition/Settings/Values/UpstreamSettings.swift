package import Model

/// The upstream GraphQL API, and the credentials and limits of calls to it.
package struct UpstreamSettings: Sendable {
  package enum Dialect: String, CaseIterable, Sendable {
    case plain
    case hasura
    case appsync
  }

  package var url: ServiceURL?
  package var websocketURL: ServiceURL?
  package var dialect = Dialect.plain
  /// Fields sent with every call that carries no credential of a caller; names in lower case.
  package var headers: [String: Secret] = [:]
  /// Lower-case names of the caller's header fields to forward.
  package var forward: [String] = []
  /// Whether tokens issued here are forwarded instead of the service's own credentials.
  package var forwardsOwnTokens = false
  /// Hasura's admin secret, or AppSync's API key.
  package var secret: Secret?
  package var timeout = Duration.seconds(10)
  /// Maximum concurrent calls.
  package var concurrencyMax = 64
  /// Maximum nesting of objects and lists in one response.
  package var responseDepthMax = 512

  /// Whether the service sends a credential of its own, judged by the names of its fields.
  package var hasOwnCredential: Bool {
    secret != nil || headers.keys.contains(where: CredentialName.matches)
  }

  /// Whether calls without a caller's credential are sent upstream with credentials of the service.
  package var hasServiceCredentials: Bool { secret != nil || !headers.isEmpty }
}

/// Defaults for queries without `@cache`, and the sizes of the caches.
package struct CacheSettings: Sendable {
  package var maxAge = Duration.zero
  package var staleWhileRevalidate = Duration.zero
  package var staleIfError = Duration.seconds(86_400)
  package var memoryBytesMax = 64 << 20
  /// Maximum size of the database; entities that live results refer to stay even above it.
  package var diskBytesMax = 8 << 30
}

/// Settings of one type, in addition to the schema.
package struct TypeSettings: Sendable {
  /// The key fields; empty = `@key` in the schema, else `id`.
  package var key: [String] = []
  package var index: [String] = []
  /// Fields of the full-text search.
  package var search: [String] = []
  /// Format of a local type's dates; nil = ISO 8601.
  package var dates: DateFormat?
}
