/// All settings of the service, filled in this order: the defaults below, the settings file, the
/// environment, the command's flags. Durations and sizes are checked, paths are resolved against the
/// settings file's folder; whether files exist is checked by the code that opens them.
package struct Settings: Sendable {
  package var listen: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 8080)]
  /// The URL at which clients reach this service; nil = the first listening address.
  package var publicURL: ServiceURL?

  /// Database and files.
  package var dataFolder: String
  /// Whether files on the disk and backups are encrypted with the key in `LARDER_KEY`.
  package var isDataEncrypted = false
  package var operationsFolder: String
  /// Upstream is introspected if this file is missing.
  package var schemaFile: String
  /// The folder of the schema files of several upstreams, `NAME.graphql`.
  package var schemasFolder: String
  /// Maximum size of the schema, from a file or from upstream.
  package var schemaBytesMax = 64 << 20
  package var localFile: String
  /// Nil = the folder shipped with the binary.
  package var publicFolder: String?

  /// The only upstream; ignored if there are ``upstreams``.
  package var upstream = UpstreamSettings()
  /// Several upstreams by name.
  package var upstreams: [String: UpstreamSettings] = [:]
  /// Relationships between entity types, by `Type.name`.
  package var links: [String: LinkSettings] = [:]
  package var graphQL = GraphQLSettings()
  package var cache = CacheSettings()
  /// By type name.
  package var types: [String: TypeSettings] = [:]
  package var adminToken: Secret?
  /// The token of operators who only read.
  package var viewerToken: Secret?
  package var tls = TLSSettings()
  package var accounts = AccountsSettings()
  package var files = FilesSettings()
  package var s3 = S3DialectSettings()
  package var push = PushSettings()
  /// Webhooks of upstream by name.
  package var hooks: [String: HookSettings] = [:]
  /// Hooks that are called about writes and outcomes.
  package var outgoingHooks: [OutgoingHookSettings] = []
  /// The secrets of those that have none of their own.
  package var outgoingHookSecrets: [Secret] = []
  package var queue = QueueSettings()
  package var devices = DevicesSettings()
  package var limits = LimitsSettings()
  /// Whether a shared cache is in front, so that it keeps responses of scope PUBLIC for all callers.
  package var isBehindCDN = false
  /// Peers whose `Forwarded` and `X-Forwarded-…` fields are trusted.
  package var trustedProxies: [ProxyPeers] = []
  /// Allowed CORS origins; none by default.
  package var corsOrigins: [WebOrigin] = []
  package var start = StartSettings()
  package var clock = ClockSettings()
  package var drain = DrainSettings()
  package var log = LogSettings()
  package var metrics = MetricsSettings()
  package var tracing = TracingSettings()
  package var generate = GenerateSettings()
  package var cluster = ClusterSettings()
  package var standby = StandbySettings()

  /// - Parameter folder: the folder that the default paths are relative to.
  init(folder: String) {
    dataFolder = "\(folder)/data"
    operationsFolder = "\(folder)/operations"
    schemaFile = "\(folder)/schema.graphql"
    schemasFolder = "\(folder)/schemas"
    localFile = "\(folder)/local.graphql"
  }
}
