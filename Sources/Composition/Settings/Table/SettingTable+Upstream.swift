extension SettingTable {
  private static let windowMax = Duration.seconds(366 * 86_400)

  static let upstream = SettingSection(
    "upstream", "The GraphQL API behind the service.",
    [
      SettingKey(
        "upstream.url", \.upstream.url, .optional(.url("http+unix", "http", "https")),
        example: "https://graphql.example.com/v1/graphql", doc: "Where operations are sent."),
      SettingKey(
        "upstream.websocket", \.upstream.websocketURL, .optional(.url("ws", "wss")),
        example: "wss://graphql.example.com/v1/graphql",
        doc: "Where subscriptions are opened; made from `upstream.url` if unset."
      ).reserved,
      SettingKey(
        "upstream.dialect", \.upstream.dialect, .one(.choice), example: "hasura",
        doc: "What upstream does its own way: credentials, error codes, subscriptions."),
      SettingKey(
        "upstream.headers.<name>", membersOf: \.upstream.headers, named: .sentField,
        fresh: Secret(""), \.self, .one(.secret("a header value of one line")),
        example: "{X-Client: larder}",
        doc: "Fields sent with every call that carries no caller's credential."),
      SettingKey(
        "upstream.forward", \.upstream.forward, .list(.forwardedField),
        example: "[authorization]",
        doc: "Fields of the caller that are passed on: `authorization` and `cookie` as credentials,"
          + " any other splits the cache. Of one whose name says that it is a credential, as"
          + " `x-api-key`, a digest is stored, and responses are private."),
      SettingKey(
        "upstream.forwardOwnTokens", \.upstream.forwardsOwnTokens, .one(.boolean),
        example: "true",
        doc: "Whether tokens that `local` accounts issued are passed on in place of"
          + " `upstream.secret` and of credentials in `upstream.headers`. If not, calls of signed-in"
          + " users carry those, and all users see the same. Without any the tokens always are."),
      SettingKey(
        "upstream.secret", \.upstream.secret, .optional(.secret("a secret of one line")),
        example: Secret.mask, doc: "Hasura's admin secret, or AppSync's API key."),
      SettingKey(
        "upstream.timeout", \.upstream.timeout,
        .one(.duration(.milliseconds(100) ... .seconds(600))), example: "10s",
        doc: "How long one call may take."),
      SettingKey(
        "upstream.concurrency", \.upstream.concurrencyMax, .one(.wholeNumber(1...4_096)),
        example: "64", doc: "Calls under way at once; more wait their turn."),
      SettingKey(
        "upstream.responseDepth", \.upstream.responseDepthMax, .one(.wholeNumber(16...900)),
        example: "512",
        doc: "How deep a response may nest; a deeper one cannot be used."),
    ])

  static let cache = SettingSection(
    "cache", "What holds for a query without `@cache`, and the memory for rendered answers.",
    [
      SettingKey(
        "cache.maxAge", \.cache.maxAge, .one(.duration(.zero...windowMax)), example: "60s",
        doc: "How long an answer is fresh."),
      SettingKey(
        "cache.staleWhileRevalidate", \.cache.staleWhileRevalidate,
        .one(.duration(.zero...windowMax)), example: "10m",
        doc: "How much longer it is served while it is refreshed."),
      SettingKey(
        "cache.staleIfError", \.cache.staleIfError, .one(.duration(.zero...windowMax)),
        example: "1d", doc: "How much longer it is served while upstream is away."),
      SettingKey(
        "cache.memory", \.cache.memoryBytesMax, .one(.byteSize(0...(1 << 40))), example: "64MiB",
        doc: "Memory for rendered responses; those kept ready may take half as much more."),
      SettingKey(
        "cache.disk", \.cache.diskBytesMax, .one(.byteSize(0...(1 << 44))), example: "8GiB",
        doc: "Size of the database above which unreferenced entities go, oldest use first."),
    ])

  static let types = SettingSection(
    "types", "What the schema does not say about its types.",
    [
      SettingKey(
        "types.<Type>.key", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(), \.key,
        .list(.graphQLName, countMin: 1), example: "[id]",
        doc: "Fields that tell one object from another, if not `id` and not told by `@key`."),
      SettingKey(
        "types.<Type>.index", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.index, .list(.graphQLName), example: "[year]",
        doc: "Fields that collections filter and order by often."),
      SettingKey(
        "types.<Type>.search", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.search, .list(.graphQLName), example: "[title, synopsis]",
        doc: "Fields of the full-text search: texts."
      ),
      SettingKey(
        "types.<Type>.dates", membersOf: \.types, named: .graphQLName, fresh: TypeSettings(),
        \.dates, .optional(.dateFormat), example: "seconds",
        doc: "How the dates of a local type are written in requests and answers: `iso8601` (the"
          + " default), `seconds` or `milliseconds` since 1970, or a pattern such as"
          + " `dd.MM.yyyy HH:mm`. Stored they are all the same."),
    ])
}
