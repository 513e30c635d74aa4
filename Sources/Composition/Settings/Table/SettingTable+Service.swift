extension SettingTable {
  private static let day = Duration.seconds(86_400)
  private static let year = day * 366

  static let place = SettingSection(
    "",
    "Where the service listens and where its files are. Paths are relative to the settings file.",
    [
      SettingKey(
        "listen", \.listen, .list(.listenAddress, countMin: 1),
        example: "[\"127.0.0.1:8080\", \"unix:/run/larder.sock\"]",
        doc: "Addresses to accept connections on; `:8080` is every interface."),
      SettingKey(
        "publicUrl", \.publicURL, .optional(.url("http", "https")),
        example: "https://api.example.com",
        doc: "Where clients reach the service from outside; presigned URLs begin with it."),
      SettingKey(
        "data", \.dataFolder, .one(.path), example: "./data",
        doc: "Folder of the database and the files, made if missing."),
      SettingKey(
        "operations", \.operationsFolder, .one(.path), example: "./operations",
        doc: "Folder of the `*.graphql` operations, the only ones that go upstream."),
      SettingKey(
        "schema", \.schemaFile, .one(.path), example: "./schema.graphql",
        doc: "Upstream's schema; introspected at start where the file is missing. Beside other"
          + " settings of the schema it is written as `path`: `schema: {path: …, bytes: …}`."),
      SettingKey(
        "schema.bytes", \.schemaBytesMax, .one(.byteSize((64 << 10)...(1 << 30))),
        example: "64MiB", doc: "The largest schema that is read, as SDL."),
      SettingKey(
        "local", \.localFile, .one(.path), example: "./local.graphql",
        doc: "Types that live only here and that clients write; a missing file is no fault."),
      SettingKey(
        "public", \.publicFolder, .optional(.path), example: "./Public",
        doc: "Folder of the console; the one shipped with the binary if unset."),
    ])

  static let admin = SettingSection(
    "admin", "Who operates the service.",
    [
      SettingKey(
        "admin.token", \.adminToken, .optional(.secret("a token", lengthMin: 32)),
        example: "\(Secret.mask)", doc: "Bearer token that opens `/v1/admin`; unset = closed.")
    ])

  static let proxies = SettingSection(
    "proxies", "What stands between clients and the service.",
    [
      SettingKey(
        "proxies.trust", \.trustedProxies, .list(.proxyPeers),
        example: "[10.0.0.0/8, \"fd00::/8\", unix]",
        doc: "Peers whose `Forwarded` and `X-Forwarded-For`, `-Proto` and `-Host` are believed; "
          + "`unix` is whoever connects to a Unix socket.")
    ])

  static let cors = SettingSection(
    "cors", "Calls from pages of other origins.",
    [
      SettingKey(
        "cors.origins", \.corsOrigins, .list(.origin), example: "[https://app.example.com]",
        doc: "Origins whose pages may call; `*` alone is all of them.")
    ])

  static let start = SettingSection(
    "start", "How the service starts.",
    [
      SettingKey(
        "start.lockWait", \.start.lockWait, .one(.duration(.zero ... .seconds(600))),
        example: "15s",
        doc: "How long it waits for the data folder while another process holds it, as one does "
          + "that still answers its last requests."),
      SettingKey(
        "start.otherKey", \.start.otherKey, .one(.choice), example: "refuse",
        doc:
          "Whether to start with another key than the one that secrets in the database are sealed "
          + "with. `accept` gives them up: all sessions end, access keys of `/s3` are void, and what "
          + "is queued with a user's credential waits for the device."),
      SettingKey(
        "start.degraded", \.start.degraded, .one(.choice), example: "allow",
        doc: "Whether to start when the data folder's disk is full or read-only: reads are served, "
          + "writes are refused with 503 until the disk takes them. `refuse` ends the start with 73. The "
          + "room that a start needs is kept in larder.reserve (1 MiB); on a read-only disk the "
          + "database is copied to the system's temporary folder."),
    ])

  static let clock = SettingSection(
    "clock", "How far the machine's clock is believed.",
    [
      SettingKey(
        "clock.trust", \.clock.trust, .one(.duration(.seconds(60)...(day * 30))), example: "1h",
        doc:
          "How long a jump of the clock must hold until devices, sessions, mutations, uploads and "
          + "all else expire by it. A stop of the service for longer is such a jump.")
    ])

  static let drain = SettingSection(
    "drain", "How the service stops.",
    [
      SettingKey(
        "drain.delay", \.drain.delay, .one(.duration(.zero ... .seconds(600))), example: "5s",
        doc: "How long it answers on after it has ceased to be ready."),
      SettingKey(
        "drain.deadline", \.drain.deadline, .one(.duration(.seconds(1) ... .seconds(600))),
        example: "8s",
        doc:
          "How long after that open requests may take. Two seconds later the process ends, whatever "
          + "it waits for."),
      SettingKey(
        "drain.idle", \.drain.idle, .one(.duration(.milliseconds(100) ... .seconds(60))),
        example: "1s", doc: "How long idle connections stay open then, for requests on their way."),
      SettingKey(
        "drain.handshakes", \.drain.handshakes, .one(.duration(.zero ... .seconds(5))),
        example: "300ms",
        doc: "How long connections that clients have begun by then may take until they are made; "
          + "none begins any more."),
    ])

  static let log = SettingSection(
    "log", "What is logged.",
    [
      SettingKey(
        "log.level", \.log.level, .one(.choice), example: "info", doc: "The least that is logged."),
      SettingKey(
        "log.format", \.log.format, .one(.choice), example: "json", doc: "How a line looks."),
    ])

  static let metrics = SettingSection(
    "metrics", "Counters in Prometheus' text format.",
    [
      SettingKey(
        "metrics.access", \.metrics.access, .one(.choice), example: "admin",
        doc: "Who may read `/metrics`: anybody, or the holder of the admin token. Only the holder "
          + "sees the hosts of upstream, of storage and of vendors in it."),
      SettingKey(
        "metrics.listen", \.metrics.listen, .list(.listenAddress), example: "[127.0.0.1:9090]",
        doc: "Addresses that serve `/metrics` and nothing else; the addresses in `listen` then do "
          + "not serve it. If unset they do."),
    ])

  static let queue = SettingSection(
    "queue", "The sync queue of each device.",
    [
      SettingKey(
        "queue.debounce", \.queue.debounce, .one(.duration(.zero ... .seconds(60))),
        example: "500ms", doc: "How long a lazy change waits for a newer one of its object."),
      SettingKey(
        "queue.parallel", \.queue.parallelMax, .one(.wholeNumber(1...4)), example: "2",
        doc: "Unrelated lazy changes of one device under way at once."),
      SettingKey(
        "queue.items", \.queue.itemsMax, .one(.wholeNumber(1...100_000)), example: "1000",
        doc: "Unfinished changes of one device; then 429."),
      SettingKey(
        "queue.retryCodes", \.queue.transientCodes, .list(.text("a code")),
        example: "[TRY_LATER]",
        doc: "Codes in upstream's errors after which the same change is sent again, beside the "
          + "throttling codes of Hasura, AppSync and others."),
      SettingKey(
        "queue.forceDeadline", \.queue.forceDeadline, .one(.duration(.seconds(1) ... .seconds(60))),
        example: "10s", doc: "How long a forced change may take to be sent."),
      SettingKey(
        "queue.probe", \.queue.probeInterval, .one(.duration(.seconds(1) ... .seconds(300))),
        example: "5s", doc: "How often the oldest change tries an upstream that is away."),
      SettingKey(
        "queue.onLogout", \.queue.onLogout, .one(.choice), example: "park",
        doc: "What becomes of a user's waiting changes on the device whose token the user signs "
          + "out with."),
    ])

  static let devices = SettingSection(
    "devices", "Phones and browsers that keep their own queue.",
    [
      SettingKey(
        "devices.register", \.devices.register, .one(.choice), example: "user",
        doc: "Who may register a device: anybody, users whose token is verified here, or the "
          + "holder of the admin token. The default is user where the service has credentials of "
          + "its own (upstream.secret or upstream.headers)."),
      SettingKey(
        "devices.rate", \.devices.registrationsPerMinute, .one(.wholeNumber(1...100_000)),
        example: "30",
        doc: "Registrations a minute from one address (of IPv6 from one /64, and eight times as "
          + "many from one /48), and by one user; then 429."),
      SettingKey(
        "devices.bytes", \.devices.ownerBytesMax, .one(.byteSize((1 << 10)...(1 << 40))),
        example: "256MiB",
        doc: "How much one device may have stored here: its rows of local types, and its mutations "
          + "until 30 days after they ended; then 507 for rows and 429 for mutations. One user may "
          + "have as much in rows of its own."),
      SettingKey(
        "devices.unboundBytes", \.devices.unboundBytesMax, .one(.byteSize(0...(1 << 44))),
        example: "4GiB",
        doc: "How much all devices together may that no user has signed in on."),
      SettingKey(
        "devices.expiry", \.devices.expiry, .one(.duration(day...(year * 10))), example: "180d",
        doc: "How long an unused device is kept, and its data."),
    ])
}
