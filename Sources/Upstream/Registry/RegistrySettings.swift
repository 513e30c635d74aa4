package import Model

/// Settings for loading operations.
package struct RegistrySettings: Sendable {
  /// Key fields by the name that a type is stored under (`types.T.key`); they take precedence over
  /// `@key` in the schema and over `id`.
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
  package var upstream: UpstreamName
  /// The section of settings that the upstream is configured in.
  package var section: String
  /// The types that are stored under other names.
  package var storedTypes: StoredTypeNames
  /// Types whose entities another upstream stores too, by name in this upstream's schema.
  package var sharedTypes: Set<String>
  /// Whether what is stored for all callers is seen by all. Of several upstreams one that divides its
  /// data by a forwarded header shows it to callers without the header alone.
  package var sharesPublicData: Bool
  /// Whether to keep the schema's types for messages that upstream sends on its own (webhooks).
  package var keepsOutline: Bool
  /// Whether to describe what clients send and receive, for generated code.
  package var describesInterface: Bool

  package init(
    keys: [String: [String]] = [:],
    indexes: [String: [String]] = [:],
    search: [String: [String]] = [:],
    scalarNumbers: [String: ScalarNumber] = [:],
    cache: CachePolicy = CachePolicy(),
    hasServiceCredentials: Bool = false,
    forwardedHeaders: [String] = ["authorization"],
    upstream: UpstreamName = .sole,
    section: String = "upstream",
    storedTypes: StoredTypeNames = StoredTypeNames(),
    sharedTypes: Set<String> = [],
    sharesPublicData: Bool = true,
    keepsOutline: Bool = false,
    describesInterface: Bool = false
  ) {
    self.keys = keys
    self.indexes = indexes
    self.search = search
    self.scalarNumbers = scalarNumbers
    self.cache = cache
    self.hasServiceCredentials = hasServiceCredentials
    self.forwardedHeaders = forwardedHeaders
    self.upstream = upstream
    self.section = section
    self.storedTypes = storedTypes
    self.sharedTypes = sharedTypes
    self.sharesPublicData = sharesPublicData
    self.keepsOutline = keepsOutline
    self.describesInterface = describesInterface
  }
}

/// The meaning of forwarded headers for the visibility of responses.
package enum ForwardedHeaders {
  /// Headers that identify the user: a response fetched with one is that user's. All other
  /// forwarded headers only partition the cache. In lower case.
  package static let credentials: Set<String> = ["authorization", "cookie"]

  /// Whether a response that was fetched with the header is not for all callers: a credential, by
  /// itself or by its name.
  static func makesPrivate(_ name: String) -> Bool {
    credentials.contains(name.lowercased()) || CredentialName.matches(name.lowercased())
  }
}
