package import Model

/// Settings for loading operations.
package struct RegistrySettings: Sendable {
  /// Key fields by type name (`types.T.key`); they take precedence over `@key` in the schema and
  /// over `id`.
  package var keys: [String: [String]]
  /// Indexed columns by type name (`types.T.index`).
  package var indexes: [String: [String]]
  /// Fields of the full-text search by type name (`types.T.search`).
  package var search: [String: [String]]
  /// Custom scalars that are numbers; all others are text.
  package var scalarNumbers: [String: ScalarNumber]
  /// Default cache windows of queries.
  package var cache: CachePolicy
  /// Whether a secret, a key or static headers are configured, so that an anonymous call would use
  /// the service's own rights upstream.
  package var hasServiceCredentials: Bool
  /// Names of the forwarded headers, in lower case.
  package var forwardedHeaders: [String]
  /// The configured upstream that runs the operations.
  package var upstream: String

  package init(
    keys: [String: [String]] = [:],
    indexes: [String: [String]] = [:],
    search: [String: [String]] = [:],
    scalarNumbers: [String: ScalarNumber] = [:],
    cache: CachePolicy = CachePolicy(),
    hasServiceCredentials: Bool = false,
    forwardedHeaders: [String] = ["authorization"],
    upstream: String = "default"
  ) {
    self.keys = keys
    self.indexes = indexes
    self.search = search
    self.scalarNumbers = scalarNumbers
    self.cache = cache
    self.hasServiceCredentials = hasServiceCredentials
    self.forwardedHeaders = forwardedHeaders
    self.upstream = upstream
  }
}

/// The meaning of forwarded headers for the visibility of responses.
package enum ForwardedHeaders {
  /// Headers that identify the user: a response fetched with one is that user's. All other
  /// forwarded headers only partition the cache. In lower case.
  package static let credentials: Set<String> = ["authorization", "cookie"]
}
