extension SettingTable {
  private static let windowMax = Duration.seconds(366 * 86_400)

  static let upstream = SettingSection(
    "upstream", "The upstream GraphQL API.",
    [
      SettingKey(
        "upstream.url", \.upstream.url, .optional(.url("http+unix", "http", "https")),
        example: "https://graphql.example.com/v1/graphql",
        doc: "Endpoint that operations are sent to."),
      SettingKey(
        "upstream.websocket", \.upstream.websocketURL, .optional(.url("ws", "wss")),
        example: "wss://graphql.example.com/v1/graphql",
        doc: "Endpoint for subscriptions by WebSocket; derived from `upstream.url` if unset."),
      SettingKey(
        "upstream.subscriptions", \.upstream.subscriptions, .one(.choice), example: "auto",
        doc: "Protocol of subscriptions: `auto` offers `graphql-transport-ws` and the older "
          + "`graphql-ws`, with AppSync AppSync's own; `sse` is GraphQL over SSE; `off` opens none. "
          + "With AppSync, `graphql-ws` sends the credential in the URL's query."),
      SettingKey(
        "upstream.dialect", \.upstream.dialect, .one(.choice), example: "hasura",
        doc: "Vendor dialect of upstream: credentials, error codes, subscriptions."),
      SettingKey(
        "upstream.headers.<name>", membersOf: \.upstream.headers, named: .sentField,
        fresh: Secret(""), \.self, .one(.secret("a header value of one line")),
        example: "{X-Client: larder}",
        doc: "Header fields sent with every call that carries no credential of a caller."),
      SettingKey(
        "upstream.forward", \.upstream.forward, .list(.forwardedField),
        example: "[authorization]",
        doc: "Header fields of the caller to forward: `authorization` and `cookie` as credentials, "
          + "any other as part of the cache key. For a name that indicates a credential, such as "
          + "`x-api-key`, only a digest of the value is stored, and responses are private."),
      SettingKey(
        "upstream.forwardOwnTokens", \.upstream.forwardsOwnTokens, .one(.boolean),
        example: "true",
        doc: "Whether to forward tokens issued by `local` accounts instead of `upstream.secret` "
          + "and credentials in `upstream.headers`. If false, calls of signed-in users carry "
          + "these, and all users see the same data. Without such credentials tokens are always "
          + "forwarded."),
      SettingKey(
        "upstream.secret", \.upstream.secret, .optional(.secret("a secret of one line")),
        example: Secret.mask, doc: "Hasura's admin secret, or AppSync's API key."),
      SettingKey(
        "upstream.timeout", \.upstream.timeout,
        .one(.duration(.milliseconds(100) ... .seconds(600))), example: "10s",
        doc: "Maximum time for one call."),
      SettingKey(
        "upstream.persisted", \.upstream.persisted, .one(.choice), example: "apq",
        doc: "`apq` sends the SHA-256 of a document in place of its text, and the text once to an "
          + "upstream that does not know it (automatic persisted queries)."),
      SettingKey(
        "upstream.concurrency", \.upstream.concurrencyMax, .one(.wholeNumber(1...4_096)),
        example: "64", doc: "Maximum concurrent calls; further ones wait."),
      SettingKey(
        "upstream.responseDepth", \.upstream.responseDepthMax, .one(.wholeNumber(16...900)),
        example: "512",
        doc: "Maximum nesting of a response; a deeper one is an error."),
      SettingKey(
        "upstream.standing", \.upstream.standing, .standing,
        example: "[{operation: FilmChanged, catchUp: {operation: FilmsSince, variable: since, "
          + "field: updatedAt}}]",
        doc: "Subscriptions kept open while no client listens, with the service's own credentials. "
          + "After a gap `catchUp` fetches what was missed, from the newest stored value of the "
          + "field; without it everything covered is fetched again when it is next read."),
      SettingKey(
        "upstream.poll", \.upstream.polls, .polls,
        example:
          "[{operation: FilmsSince, every: 30s, since: {variable: since, field: updatedAt}}]",
        doc:
          "Queries repeated with the service's own credentials, one call at a time. With `since` "
          + "each continues by the newest value of the field."),
    ])

  static let graphQL = SettingSection(
    "graphql", "The path for GraphQL clients, `/v1/graphql`.",
    [
      SettingKey(
        "graphql.unregistered", \.graphQL.unregistered, .one(.choice), example: "log",
        doc: "What happens to a document that is not registered: it is refused (400 "
          + "`document_unknown`), or sent upstream as it is with the caller's own credential, and "
          + "its response is not stored. `log` logs each such document once. `@access` does not "
          + "apply to it, and its mutations refresh nothing.")
    ])

  static let cache = SettingSection(
    "cache", "Defaults for queries without `@cache`, and the sizes of the caches.",
    [
      SettingKey(
        "cache.maxAge", \.cache.maxAge, .one(.duration(.zero...windowMax)), example: "60s",
        doc: "How long a response is fresh."),
      SettingKey(
        "cache.staleWhileRevalidate", \.cache.staleWhileRevalidate,
        .one(.duration(.zero...windowMax)), example: "10m",
        doc: "How much longer a stale response is served while it is refreshed."),
      SettingKey(
        "cache.staleIfError", \.cache.staleIfError, .one(.duration(.zero...windowMax)),
        example: "1d",
        doc: "How much longer a stale response is served while upstream is unavailable."),
      SettingKey(
        "cache.memory", \.cache.memoryBytesMax, .one(.byteSize(0...(1 << 40))), example: "64MiB",
        doc: "Maximum memory for rendered responses; the response cache can take half as much "
          + "again."),
      SettingKey(
        "cache.disk", \.cache.diskBytesMax, .one(.byteSize(0...(1 << 44))), example: "8GiB",
        doc: "Database size above which unreferenced entities are evicted, least recently used "
          + "first."),
    ])

  static let types = SettingSection(
    "types", "Keys, indexes, search, date formats and local fields of types.",
    [
      SettingKey(
        "types.<Type>.key", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(), \.key,
        .list(.graphQLName, countMin: 1), example: "[id]",
        doc: "Key fields of the type; defaults to `@key` in the schema, then to `id`."),
      SettingKey(
        "types.<Type>.index", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.index, .list(.indexedField), example: "[year, maker.lastName, \"title[cd]\"]",
        doc: "Fields to index, for collections that often filter or order by them. A key path is "
          + "indexed on every type that it leads through; `[c]`, `[cd]` and `lower(…)` serve filters "
          + "that compare texts so."),
      SettingKey(
        "types.<Type>.search", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.search, .list(.graphQLName), example: "[title, synopsis]",
        doc: "Text fields of the full-text search."),
      SettingKey(
        "types.<Type>.dates", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.dates, .optional(.dateFormat), example: "seconds",
        doc: "Format of a local type's dates in requests and responses: `iso8601` (the default), "
          + "`seconds` or `milliseconds` since 1970, or a pattern such as `dd.MM.yyyy HH:mm`. The "
          + "stored form is always the same."),
      SettingKey(
        "types.<Type>.keepLocal", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.keepLocal, .optional(.duration(.seconds(86_400) ... .seconds(10 * 365 * 86_400))),
        example: "90d",
        doc:
          "How long an entity that upstream deleted stays visible to those who have local fields of "
          + "it; 90 days by default. Never shorter than deletions are reported to clients: 30 days."
      ),
    ])
}
