extension SettingTable {
  private static let day = Duration.seconds(86_400)
  private static let year = day * 366

  static let place = SettingSection(
    "",
    "Addresses and paths. Relative paths start at the settings file's folder.",
    [
      SettingKey(
        "listen", \.listen, .list(.listenAddress, countMin: 1),
        example: "[\"127.0.0.1:8080\", \"unix:/run/larder.sock\"]",
        doc: "Addresses to accept connections on; `:8080` means all interfaces."),
      SettingKey(
        "publicUrl", \.publicURL, .optional(.url("http", "https")),
        example: "https://api.example.com",
        doc: "URL at which clients reach the service; presigned URLs start with it."),
      SettingKey(
        "cdn", \.isBehindCDN, .one(.boolean), example: "true",
        doc: "Whether a shared cache (CDN) is in front that keeps responses of `scope: PUBLIC` for "
          + "all callers, signed in or not: they carry no `Vary` by credential and no cursor. The "
          + "cache must pass requests with `Device-Token` on, see "
          + "[caching.md](caching.md#behind-a-cdn)."),
      SettingKey(
        "data", \.dataFolder, .one(.path), example: "./data",
        doc: "Folder of the database and the files; created if missing. With `data.encryption` "
          + "write it as `path`: `data: {path: ./data, encryption: true}`."),
      SettingKey(
        "data.encryption", \.isDataEncrypted, .one(.boolean), example: "true",
        doc: "Whether files on the disk and backups are encrypted with the key in `LARDER_KEY`, "
          + "which must be set. The database is not: keep the folder on an encrypted disk. See "
          + "[security.md](security.md#encryption-at-rest)."),
      SettingKey(
        "operations", \.operationsFolder, .one(.path), example: "./operations",
        doc:
          "Folder of the `*.graphql` operations, or a manifest of persisted documents as Apollo, "
          + "Relay or graphql-codegen writes it (`./persisted-queries.json`). No other operation is "
          + "sent upstream, unless `graphql.unregistered` lets documents through."),
      SettingKey(
        "schema", \.schemaFile, .one(.path), example: "./schema.graphql",
        doc: "Upstream's schema as SDL; introspected at start if the file is missing, but `larder "
          + "check` needs it, or the copy of the last start. With other "
          + "settings of the schema write it as `path`: `schema: {path: …, bytes: …}`."),
      SettingKey(
        "schema.bytes", \.schemaBytesMax, .one(.byteSize((64 << 10)...(1 << 30))),
        example: "64MiB", doc: "Maximum size of the schema, as SDL."),
      SettingKey(
        "schemas", \.schemasFolder, .one(.path), example: "./schemas",
        doc:
          "Folder of the schemas of several upstreams, each as SDL in `NAME.graphql`; one that is "
          + "missing is introspected at start."),
      SettingKey(
        "local", \.localFile, .one(.path), example: "./local.graphql",
        doc: "SDL file of the local types, which clients write and only Larder stores; can be "
          + "missing."),
      SettingKey(
        "public", \.publicFolder, .optional(.path), example: "./Public",
        doc: "Folder of the console; defaults to the one shipped with the binary."),
    ])

  static let admin = SettingSection(
    "admin", "Access for operators.",
    [
      SettingKey(
        "admin.token", \.adminToken, .optional(.secret("a token", lengthMin: 32)),
        example: "\(Secret.mask)",
        doc: "Bearer token for `/v1/admin` and the console, which are closed if unset."),
      SettingKey(
        "admin.viewerToken", \.viewerToken, .optional(.secret("a token", lengthMin: 32)),
        example: "\(Secret.mask)",
        doc: "Token of operators who only read: it opens what `admin.token` does, except what "
          + "writes. Must differ from `admin.token`."),
    ])

  static let proxies = SettingSection(
    "proxies", "Reverse proxies and load balancers in front of the service.",
    [
      SettingKey(
        "proxies.trust", \.trustedProxies, .list(.proxyPeers),
        example: "[10.0.0.0/8, \"fd00::/8\", unix]",
        doc: "Peers whose `Forwarded` and `X-Forwarded-For`, `-Proto` and `-Host` fields are "
          + "trusted; `unix` means every peer of a Unix socket.")
    ])

  static let cors = SettingSection(
    "cors", "Cross-origin requests from browsers.",
    [
      SettingKey(
        "cors.origins", \.corsOrigins, .list(.origin), example: "[https://app.example.com]",
        doc: "Allowed origins; `*` alone allows all.")
    ])

  static let start = SettingSection(
    "start", "Start of the service.",
    [
      SettingKey(
        "start.lockWait", \.start.lockWait, .one(.duration(.zero ... .seconds(600))),
        example: "15s",
        doc: "How long to wait for the data folder while another process holds its lock, for "
          + "example the previous process while it drains."),
      SettingKey(
        "start.otherKey", \.start.otherKey, .one(.choice), example: "refuse",
        doc: "Whether to start with a different key than the one that sealed the secrets in the "
          + "database. `accept` discards them: all sessions end, access keys of `/s3` become "
          + "invalid, and mutations queued with a user's credential wait for the device."),
      SettingKey(
        "start.degraded", \.start.degraded, .one(.choice), example: "allow",
        doc: "Whether to start if the data folder's disk is full or read-only. `allow` serves "
          + "reads and refuses writes with 503 until the disk is writable; `refuse` exits with "
          + "status 73. The space that a start needs is reserved in `larder.reserve` (1 MiB); on a "
          + "read-only disk the database is copied to the system's temporary folder."),
    ])

  static let clock = SettingSection(
    "clock", "Trust in the machine's clock.",
    [
      SettingKey(
        "clock.trust", \.clock.trust, .one(.duration(.seconds(60)...(day * 30))), example: "1h",
        doc: "How long a jump of the clock must last before devices, sessions, mutations, uploads "
          + "and other data expire by it. A longer stop of the service is such a jump.")
    ])

  static let drain = SettingSection(
    "drain", "Graceful shutdown.",
    [
      SettingKey(
        "drain.delay", \.drain.delay, .one(.duration(.zero ... .seconds(600))), example: "5s",
        doc: "How long to keep accepting requests after `/readyz` reports that the service is not "
          + "ready."),
      SettingKey(
        "drain.deadline", \.drain.deadline, .one(.duration(.seconds(1) ... .seconds(600))),
        example: "8s",
        doc: "Maximum time for open requests after that. The process ends two seconds later in any "
          + "case."),
      SettingKey(
        "drain.idle", \.drain.idle, .one(.duration(.milliseconds(100) ... .seconds(60))),
        example: "1s",
        doc: "How long idle connections stay open during the drain, for requests already sent."),
      SettingKey(
        "drain.handshakes", \.drain.handshakes, .one(.duration(.zero ... .seconds(5))),
        example: "300ms",
        doc: "Maximum time for handshakes that are under way when listening ends; no new "
          + "connection is accepted."),
    ])

  static let log = SettingSection(
    "log", "Logging.",
    [
      SettingKey(
        "log.level", \.log.level, .one(.choice), example: "info", doc: "Minimum level."),
      SettingKey(
        "log.format", \.log.format, .one(.choice), example: "json", doc: "Format of a log line."),
      SettingKey(
        "log.ids", \.log.ids, .one(.choice), example: "plain",
        doc: "How access lines show the ids of users and devices: as they are (`plain`), as "
          + "digests with a key of this data folder, equal for equal ids (`hashed`), or not at "
          + "all (`off`)."),
    ])

  static let metrics = SettingSection(
    "metrics", "Metrics in the Prometheus text format and in OpenMetrics.",
    [
      SettingKey(
        "metrics.access", \.metrics.access, .one(.choice), example: "admin",
        doc: "Who may read `/metrics`: anyone (`open`), or the holder of the admin token "
          + "(`admin`). Only the holder sees the hosts of upstream, of file storage and of vendors "
          + "in it."),
      SettingKey(
        "metrics.token", \.metrics.token, .optional(.secret("a token", lengthMin: 32)),
        example: "\(Secret.mask)",
        doc: "Bearer token for `/metrics` alone, for the scraper. If set, `/metrics` requires it "
          + "or the admin token."),
      SettingKey(
        "metrics.listen", \.metrics.listen, .list(.listenAddress), example: "[127.0.0.1:9090]",
        doc: "Addresses that serve only `/metrics`, which the addresses in `listen` then do not "
          + "serve."),
    ])

  static let queue = SettingSection(
    "queue", "Sync queues of devices.",
    [
      SettingKey(
        "queue.debounce", \.queue.debounce, .one(.duration(.zero ... .seconds(60))),
        example: "500ms",
        doc: "How long a lazy mutation waits for a newer one of the same object."),
      SettingKey(
        "queue.parallel", \.queue.parallelMax, .one(.wholeNumber(1...4)), example: "2",
        doc: "Maximum unrelated lazy mutations of one device sent concurrently."),
      SettingKey(
        "queue.items", \.queue.itemsMax, .one(.wholeNumber(1...100_000)), example: "1000",
        doc: "Maximum unfinished mutations of one device; 429 beyond it."),
      SettingKey(
        "queue.retryCodes", \.queue.transientCodes, .list(.text("a code")),
        example: "[TRY_LATER]",
        doc: "Error codes of upstream after which the same mutation is retried, in addition to the "
          + "throttling codes of Hasura, AppSync and others."),
      SettingKey(
        "queue.forceDeadline", \.queue.forceDeadline, .one(.duration(.seconds(1) ... .seconds(60))),
        example: "10s", doc: "Maximum time to send a forced mutation."),
      SettingKey(
        "queue.probe", \.queue.probeInterval, .one(.duration(.seconds(1) ... .seconds(300))),
        example: "5s",
        doc: "How often the oldest mutation is retried while upstream is unavailable."),
      SettingKey(
        "queue.onLogout", \.queue.onLogout, .one(.choice), example: "park",
        doc: "How a sign-out with a device token treats the device's queued mutations of that "
          + "user: send them (`drain`), discard them (`drop`) or hold them (`park`)."),
    ])

  static let devices = SettingSection(
    "devices", "Registered devices, each with its own sync queue.",
    [
      .switch(
        "devices", \.devices.isOn,
        doc: "Whether devices can be registered, and mutations be queued for them. `push` is off "
          + "without them. Device tokens issued before are refused."),
      SettingKey(
        "devices.register", \.devices.register, .one(.choice), example: "user",
        doc: "Who may register a device: anyone (`open`), users whose token is verified here "
          + "(`user`), or the holder of the admin token (`admin`). Defaults to `user` if the "
          + "service has its own credentials (`upstream.secret` or `upstream.headers`)."),
      SettingKey(
        "devices.rate", \.devices.registrationsPerMinute, .one(.wholeNumber(1...100_000)),
        example: "30",
        doc: "Maximum registrations per minute from one address (IPv6: from one /64, and eight "
          + "times as many from one /48), and by one user; 429 beyond it."),
      SettingKey(
        "devices.bytes", \.devices.ownerBytesMax, .one(.byteSize((1 << 10)...(1 << 40))),
        example: "256MiB",
        doc: "Storage quota of one device: its rows of local types, and its mutations until 30 "
          + "days after their outcome; beyond it 507 for rows and 429 for mutations. One user has "
          + "the same quota for rows of its own."),
      SettingKey(
        "devices.unboundBytes", \.devices.unboundBytesMax, .one(.byteSize(0...(1 << 44))),
        example: "4GiB",
        doc: "Storage quota of all devices without a signed-in user together."),
      SettingKey(
        "devices.expiry", \.devices.expiry, .one(.duration(day...(year * 10))), example: "180d",
        doc: "How long an unused device and its data are kept."),
    ])
}

extension SettingTable {
  static let tls = SettingSection(
    "tls",
    "HTTPS without a proxy. SIGHUP reloads the files without closing connections.",
    [
      SettingKey(
        "tls.certificate", \.tls.certificateFile, .optional(.path), example: "./tls/chain.pem",
        doc: "PEM file of the certificate and its chain."),
      SettingKey(
        "tls.key", \.tls.keyFile, .optional(.path), example: "./tls/key.pem",
        doc: "PEM file of its private key, without a passphrase."),
      SettingKey(
        "tls.certificates.<certificate>.certificate", membersOf: \.tls.certificates,
        named: .certificateName, fresh: TLSSettings.Certificate(), \.certificateFile,
        .optional(.path), example: "./tls/other.pem",
        doc: "Another certificate: for clients that request its names, or with another key type "
          + "for the same names as the first."),
      SettingKey(
        "tls.certificates.<certificate>.key", membersOf: \.tls.certificates,
        named: .certificateName, fresh: TLSSettings.Certificate(), \.keyFile, .optional(.path),
        example: "./tls/other.key", doc: "Its private key."),
      SettingKey(
        "tls.hsts", \.tls.strictTransportAge,
        .optional(.duration(.zero ... .seconds(2 * 366 * 86_400))), example: "365d",
        doc: "How long browsers must use only HTTPS for this host (`max-age` of "
          + "`Strict-Transport-Security`); `0s` revokes it. Not sent if unset."),
    ])
}

extension TextForm where Value == String {
  /// The operator's name for a certificate; it has no other meaning.
  fileprivate static var certificateName: Self { .text("a name for the certificate") }
}
