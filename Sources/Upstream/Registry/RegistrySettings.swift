package import Model

/// What the registry must know beside operations and schema.
package struct RegistrySettings: Sendable {
  /// How a custom scalar's values are kept in columns and read from query strings.
  package enum ScalarNumber: String, Hashable, Sendable {
    case integer
    case real
  }

  /// Key fields by type name (`types.T.key`); they win over `@key` in the schema and over `id`.
  package var keys: [String: [String]]
  /// Columns that get an index, by type name (`types.T.index`).
  package var indexes: [String: [String]]
  /// Fields of the full-text search, by type name (`types.T.search`).
  package var search: [String: [String]]
  /// Custom scalars that are numbers; every other one is text.
  package var scalarNumbers: [String: ScalarNumber]
  /// The windows of a query whose `@cache` does not name them.
  package var cache: CachePolicy
  /// A secret, a key or static headers are configured, so that an anonymous call would go upstream
  /// with the service's own rights.
  package var hasServiceCredentials: Bool
  /// Names of the headers passed upstream, in lower case.
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
