package import Gateway
package import HTTPServer
package import Logging
package import Model

/// The dependencies of the endpoints, made by Composition.
package struct Services: Sendable {
  /// The parts that are not switched off; only their routes are served.
  package var parts: Set<ServicePart>
  /// The part of this node in its cluster.
  package var role = ClusterRole.alone
  package var operations: OperationService
  package var subscriptions: SubscriptionHub
  package var standing: StandingWork
  package var upstreams: UpstreamOverview
  package var unregistered: UnregisteredDocuments
  package var entities: EntityReader
  package var lists: ListDiffer
  package var callers: CallerIdentifier
  package var devices: DeviceRegistry
  package var accounts: AccountService
  /// The keys that sign users' access tokens; nil if another service signs them.
  package var signingKeys: SigningKeyService?
  package var changes: ChangeFeed
  package var live: LiveServices
  package var cursors: CursorIssuer
  package var purger: Purger
  package var sql: SQLConsole
  package var console: ConsoleServices
  package var backups: BackupFolder
  package var tables: TableMaintenance
  package var logThreshold: LogThreshold
  /// How the access log shows the ids of callers.
  package var loggedIDs = LoggedIDs.off
  /// Whether a shared cache in front keeps responses of scope PUBLIC.
  package var isBehindCDN = false
  package var writes: EntityWrites
  /// Nil if files are switched off.
  package var storedFiles: FileServices?
  /// Nil on a single machine.
  package var cluster: (any ClusterStatus)?
  /// Nil if the S3 dialect is switched off.
  package var s3: S3Services?
  package var sync: SyncQueue
  package var push: PushService
  package var hooks: HookService
  package var hooksOut: OutgoingHooks
  package var health: HealthCheck
  package var metrics: MetricsEndpoint
  /// Whether the service's own addresses serve the metrics.
  package var hasMetrics: Bool
  /// Nil if no folder is served.
  package var files: StaticFiles?
  package var cors: CORSPolicy
  package var version: String
  /// Reads what the OpenAPI document is made from; called at the first request for it.
  package var openAPI: @Sendable () throws -> OpenAPISource
  /// Finds a file of the JavaScript client library.
  package var clientFile: ClientLibraryEndpoint.Find
  package var bodyBytesMax: Int
  /// The memory limit of the response cache.
  package var responseCacheBytesMax: Int
  package var streamStallMax: Duration
  package var compressionBytesMin: Int
  /// Paces log lines.
  package var clock: WallClock
  package var logger: Logger

  package init(
    parts: Set<ServicePart>, operations: OperationService, subscriptions: SubscriptionHub,
    standing: StandingWork,
    upstreams: UpstreamOverview, unregistered: UnregisteredDocuments, entities: EntityReader,
    lists: ListDiffer,
    callers: CallerIdentifier, devices: DeviceRegistry, accounts: AccountService,
    signingKeys: SigningKeyService?,
    changes: ChangeFeed, live: LiveServices, cursors: CursorIssuer, purger: Purger,
    sql: SQLConsole, console: ConsoleServices,
    backups: BackupFolder,
    tables: TableMaintenance, logThreshold: LogThreshold, writes: EntityWrites,
    storedFiles: FileServices?,
    s3: S3Services?, sync: SyncQueue, push: PushService, hooks: HookService,
    hooksOut: OutgoingHooks,
    health: HealthCheck,
    metrics: MetricsEndpoint, hasMetrics: Bool, files: StaticFiles?,
    cors: CORSPolicy, version: String,
    openAPI: @escaping @Sendable () throws -> OpenAPISource,
    clientFile: @escaping ClientLibraryEndpoint.Find,
    bodyBytesMax: Int, responseCacheBytesMax: Int,
    streamStallMax: Duration,
    compressionBytesMin: Int, clock: WallClock, logger: Logger
  ) {
    self.parts = parts
    self.operations = operations
    self.subscriptions = subscriptions
    self.standing = standing
    self.upstreams = upstreams
    self.unregistered = unregistered
    self.entities = entities
    self.lists = lists
    self.callers = callers
    self.devices = devices
    self.accounts = accounts
    self.signingKeys = signingKeys
    self.changes = changes
    self.live = live
    self.cursors = cursors
    self.purger = purger
    self.sql = sql
    self.console = console
    self.backups = backups
    self.tables = tables
    self.logThreshold = logThreshold
    self.writes = writes
    self.storedFiles = storedFiles
    self.s3 = s3
    self.sync = sync
    self.push = push
    self.hooks = hooks
    self.hooksOut = hooksOut
    self.health = health
    self.metrics = metrics
    self.hasMetrics = hasMetrics
    self.files = files
    self.cors = cors
    self.version = version
    self.openAPI = openAPI
    self.clientFile = clientFile
    self.bodyBytesMax = bodyBytesMax
    self.responseCacheBytesMax = responseCacheBytesMax
    self.streamStallMax = streamStallMax
    self.compressionBytesMin = compressionBytesMin
    self.clock = clock
    self.logger = logger
  }
}

/// The use cases behind streams of lists and of many subjects.
package struct LiveServices: Sendable {
  package var lists: LiveLists
  package var streams: LiveStreams

  package init(lists: LiveLists, streams: LiveStreams) {
    self.lists = lists
    self.streams = streams
  }
}

/// What only operators see, in the console.
package struct ConsoleServices: Sendable {
  /// The local accounts; nil if another service keeps them.
  package var accounts: AccountDirectory?
  package var provenance: EntityProvenance
  package var overview: ServiceOverview
  /// Ends the streams of the overview when the service drains.
  package var signal: CommitSignal
  /// The latest lines of the log.
  package var log: LogRing
  /// In the order of the settings' table.
  package var settings: [SettingInForce]

  package init(
    accounts: AccountDirectory?, provenance: EntityProvenance, overview: ServiceOverview,
    signal: CommitSignal, log: LogRing, settings: [SettingInForce]
  ) {
    self.accounts = accounts
    self.provenance = provenance
    self.overview = overview
    self.signal = signal
    self.log = log
    self.settings = settings
  }
}
