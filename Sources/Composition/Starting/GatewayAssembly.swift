import Accounts
import Endpoints
import Gateway
import HTTPClient
import HTTPServer
import Logging
import LosslessJSON
import Model
import Storage
import SyncScheduler
import Upstream

/// The use cases of Gateway, wired to a store and an upstream.
struct GatewayAssembly {
  let health: HealthCheck
  private let settings: Settings
  private let operations: OperationService
  private let entities: EntityReader
  let writes: EntityWrites
  private let lists: ListDiffer
  private let callers: CallerIdentifier
  let devices: DeviceRegistry
  private let accounts: AccountService
  private let signingKeys: SigningKeyService?
  private let cursors: CursorIssuer
  private let changes: ChangeFeed
  /// Ending it ends the live streams, so that their connections can close.
  let signal: CommitSignal
  private let purger: Purger
  private let console: SQLConsole
  private let backups: BackupFolder
  private let tables: TableMaintenance
  let sync: SyncQueue
  private let push: PushService
  private let logThreshold: LogThreshold
  private let logger: Logger

  /// Version of the form in which a change shows an entity; increased when the form changes.
  private static let changeSchemaVersion: UInt32 = 1

  init(
    workspace: Workspace, store: Store, client: HTTPClient, keys: KeyRing,
    accounts: AccountAssembly, push: PushService, clock expiryClock: TrustedClock, logger: Logger,
    logThreshold: LogThreshold
  ) {
    let settings = workspace.settings
    let upstream = UpstreamClient(
      settings: UpstreamConfiguration(settings, url: settings.upstream.url?.text ?? ""),
      clock: SystemClock.wall, client: client)
    let calls = CallSequence(after: store.lastCall, head: store.head)
    let cache = RenderedCache(byteLimit: settings.cache.memoryBytesMax)
    let epoch = MutationEpoch()
    let clock = SystemClock.wall
    let pulse = UpstreamPulse(uptime: { SystemClock.uptime() }, logger: logger)
    let codec = CursorCodec(key: keys.key(for: .cursor))
    let cursors = CursorIssuer(
      codec: codec, segment: store.segments.last?.nonce ?? 0,
      schemaVersion: Self.changeSchemaVersion, head: store.head)
    let signal = CommitSignal { try await Task.sleep(for: $0) }
    let overlaid = OverlaidEntities(store.overlays)
    // Caches drop what a commit touched before the head that includes the commit is published.
    store.observe { report in
      overlaid.note(report)
      cache.note(report)
      cursors.publish(report.head)
      signal.note(report)
      push.note(report)
    }
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    devices = DeviceRegistry(
      store: store, settings: DeviceSettings(settings.devices), clock: clock,
      expiryClock: expiryClock.clock, random: random, signal: signal, logger: logger,
      whenChanged: { push.noteDevices() })
    let deadline = QueryDeadline(limit: settings.limits.queryDeadline) { SystemClock.uptime() }
    let gate = StoredDataGate(
      hasServiceCredentials: settings.upstream.hasServiceCredentials,
      ownTypes: Set(workspace.local.types.keys))
    changes = ChangeFeed(
      store: store.reading,
      validator: CursorValidator(
        codec: codec, segments: store.segments, schemaVersion: Self.changeSchemaVersion),
      entities: EntityRenderer(catalogue: workspace.registry.catalogue), signal: signal,
      types: workspace.registry.catalogue.types, gate: gate, devices: devices,
      deadline: deadline)
    self.signal = signal
    let memory = ListMemory()
    entities = EntityReader(
      store: store.reading,
      directory: EntityDirectory(registry: workspace.registry, local: workspace.local),
      renderer: EntityRenderer(catalogue: workspace.registry.catalogue),
      tokens: PageTokenCodec(key: keys.key(for: .page)),
      deadline: deadline, gate: gate, lists: memory, clock: clock,
      uptime: { SystemClock.uptime() })
    writes = EntityWriting.writes(
      workspace, store: store, calls: calls, epoch: epoch, deadline: deadline)
    let failures = FailureMemory(clock: clock, random: { Double.random(in: 0..<1) })
    let directory = OperationDirectory(registry: workspace.registry)
    let reader = QueryReader(
      upstream: upstream, store: store, calls: calls, cache: cache, epoch: epoch,
      failures: failures, pulse: pulse, overlaid: overlaid, clock: clock, logger: logger)
    lists = ListDiffer(
      reader: reader, collections: entities, store: store.reading,
      entities: EntityRenderer(catalogue: workspace.registry.catalogue), cursors: cursors,
      memory: memory)
    operations = OperationService(
      directory: directory,
      reader: reader,
      mutations: MutationRunner(
        upstream: upstream, store: store, calls: calls, epoch: epoch, pulse: pulse,
        clock: clock, logger: logger),
      explainer: Explainer(store: store.reading, cache: cache, clock: clock), signal: signal,
      devices: devices, differ: lists, temporary: TemporaryVariables(store: store.reading),
      makeKey: { RandomName.make() })
    health = HealthCheck(
      store: store.reading, pulse: pulse, operationCount: directory.descriptions.count)
    callers = CallerIdentifier(
      adminToken: settings.adminToken?.revealed, forwardedNames: settings.upstream.forward,
      keys: keys, tokens: accounts.tokens,
      forwardsOwnTokens: settings.upstream.forwardsOwnTokens
        || !settings.upstream.hasOwnCredential, devices: devices,
      tickets: StreamTickets(clock: clock, random: random),
      storedRoles: workspace.registry.storedRoles)
    let sync = SyncQueue(
      store: store, registry: workspace.registry, localTypes: Set(workspace.local.types.keys),
      upstream: upstream, calls: calls, epoch: epoch, pulse: pulse, cursors: cursors,
      devices: devices, signal: signal,
      sealer: Sealer(key: keys.key(for: .credential), random: random),
      environment: QueueAssembly.environment(settings, clock: expiryClock),
      concurrencyMax: QueueAssembly.concurrencyMax(settings),
      transientCodes: Set(settings.queue.transientCodes), clock: clock, logger: logger,
      makeID: { RandomName.make(at: clock.now()) })
    self.sync = sync
    self.push = push
    let signOut = QueueCommand.signOut(QueueAssembly.signOutPolicy(settings))
    self.accounts = AccountService(
      provider: accounts.provider, rules: AccountRules(settings.accounts), devices: devices,
      networks: KnownNetworks(store: store, key: keys.key(for: .network), clock: clock),
      clock: clock, logger: logger,
      whenSignedOut: { signedOut async throws(Failure) in
        try await push.unregister(device: signedOut.device)
        _ = try await sync.perform(signOut, on: signedOut.device)
      })
    signingKeys = accounts.signingKeys
    purger = Purger(
      store: store, calls: calls, epoch: epoch, ownTypes: Set(workspace.local.types.keys))
    console = SQLConsole(
      store: store.reading, deadline: settings.limits.queryDeadline, clock: clock)
    backups = BackupFolder(
      store: store, dataFolder: settings.dataFolder,
      makeFolder: { (try? DataFolder(path: $0).make()) != nil }, makeName: { BackupName.now() })
    tables = TableMaintenance(store: store)
    self.logThreshold = logThreshold
    self.cursors = cursors
    self.settings = settings
    self.logger = logger
  }

  func metrics(_ registry: PrometheusRegistry) -> MetricsEndpoint {
    MetricsEndpoint(
      access: settings.metrics.access == .admin ? .admin : .open, callers: callers
    ) { registry.text(showsHosts: $0) }
  }

  func services(
    files: StaticFiles?, storedFiles: FileServices, s3: S3Services, metrics: MetricsEndpoint
  ) -> Services {
    Services(
      operations: operations, entities: entities, lists: lists, callers: callers,
      devices: devices, accounts: accounts, signingKeys: signingKeys, changes: changes,
      cursors: cursors, purger: purger, console: console, backups: backups, tables: tables,
      logThreshold: logThreshold, writes: writes, storedFiles: storedFiles, s3: s3, sync: sync,
      push: push, health: health,
      metrics: metrics, hasMetrics: settings.metrics.listen.isEmpty, files: files,
      cors: CORSPolicy(origins: settings.corsOrigins.map(\.description)), version: Version.text,
      openAPITemplate: { try OpenAPIResource.value() },
      bodyBytesMax: settings.limits.bodyBytesMax,
      responseCacheBytesMax: settings.cache.memoryBytesMax / 2,
      streamStallMax: settings.limits.streamStall,
      compressionBytesMin: ServerLimits().compressionBytesMin, logger: logger)
  }
}

extension DeviceSettings {
  init(_ settings: DevicesSettings) {
    let registration: Registration =
      switch settings.register {
      case .open: .open
      case .user: .user
      case .admin: .admin
      }
    self.init(
      registration: registration, registrationsPerMinute: settings.registrationsPerMinute,
      expiry: settings.expiry)
  }
}

/// The sync queue's environment, made from settings and the system's clock and random numbers.
enum QueueAssembly {
  /// The sync queues use at most half of the concurrent calls to upstream, so that a device that
  /// reconnects with a thousand mutations does not delay readers.
  static func concurrencyMax(_ settings: Settings) -> Int {
    max(1, settings.upstream.concurrencyMax / 2)
  }

  static func signOutPolicy(_ settings: Settings) -> SignOutPolicy {
    switch settings.queue.onLogout {
    case .drain: .drain
    case .drop: .drop
    case .park: .park
    }
  }

  static func environment(_ settings: Settings, clock: TrustedClock) -> QueueEnvironment {
    let queue = settings.queue
    return QueueEnvironment(
      policy: QueuePolicy(
        debounce: queue.debounce, parallel: queue.parallelMax,
        forceDeadline: queue.forceDeadline, probe: queue.probeInterval,
        // Upstream's timeout ends an attempt first; this deadline is for attempts that were lost.
        answerDeadline: settings.upstream.timeout * 2 + .seconds(10),
        itemsMax: queue.itemsMax, quota: DataQuota(settings.devices)),
      wall: clock.now(), reading: { SystemClock.uptime() }, boot: RandomName.make(),
      random: { UInt64.random(in: 0...UInt64.max) },
      sleep: { try await Task.sleep(for: $0) })
  }
}

/// The use cases that write entities, wired to a store.
enum EntityWriting {
  static func writes(
    _ workspace: Workspace, store: Store, calls: CallSequence, epoch: MutationEpoch,
    deadline: QueryDeadline
  ) -> EntityWrites {
    let clock = SystemClock.wall
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    let catalogue = workspace.registry.catalogue
    let entities = EntityRenderer(
      catalogue: catalogue, views: workspace.registry.views.values)
    return EntityWrites(
      own: OwnDataWrites(
        schema: workspace.local, store: store, entities: entities,
        identifiers: IdentifierMaker(clock: clock, random: random), clock: clock,
        deadline: deadline, quota: DataQuota(workspace.settings.devices)),
      corrections: CorrectionService(
        catalogue: catalogue, store: store, entities: entities, calls: calls, epoch: epoch,
        clock: clock, deadline: deadline))
  }
}

extension DataQuota {
  init(_ settings: DevicesSettings) {
    self.init(
      ownerBytesMax: settings.ownerBytesMax, unboundBytesMax: settings.unboundBytesMax)
  }
}
