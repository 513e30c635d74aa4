import Accounts
import Endpoints
import Filtering
import Gateway
import HTTPClient
import HTTPServer
import Logging
import LosslessJSON
import Model
import Storage
import SyncScheduler
import Traces
import Transport
import Upstream

/// The use cases of Gateway, wired to a store and an upstream.
struct GatewayAssembly {
  let health: HealthCheck
  private let role: ClusterRole
  private let settings: Settings
  private let operations: OperationService
  private let unregistered: UnregisteredDocuments
  let subscriptions: SubscriptionHub
  let connections: SubscriptionsByUpstream
  let standing: StandingWork
  private let overview: UpstreamOverview
  private let cache: RenderedCache
  private let reader: QueryReader
  private let entities: EntityReader
  let writes: EntityWrites
  private let lists: ListDiffer
  let callers: CallerIdentifier
  let devices: DeviceRegistry
  private let accounts: AccountService
  private let signingKeys: SigningKeyService?
  private let cursors: CursorIssuer
  private let changes: ChangeFeed
  private let live: LiveServices
  /// Ending it ends the live streams, so that their connections can close.
  let signal: CommitSignal
  private let purger: Purger
  private let sql: SQLConsole
  private let backups: BackupFolder
  private let tables: TableMaintenance
  let sync: SyncQueue
  private let push: PushService
  private let hooks: HookService
  private let hooksOut: OutgoingHooks
  private let logThreshold: LogThreshold
  private let openAPI: @Sendable () throws -> OpenAPISource
  private let loggedIDs: LoggedIDs
  private let logger: Logger

  /// Version of the form in which a change shows an entity; increased when the form changes.
  private static let changeSchemaVersion: UInt32 = 1

  init(
    workspace: Workspace, role: ClusterRole, store: Store, upstreams: UpstreamAssembly,
    keys: KeyRing,
    accounts: AccountAssembly, push: PushService, hooksOut: OutgoingHooks,
    disabled: DisabledAccounts, tracer: SpanTracer?, clock expiryClock: TrustedClock,
    pool: BlockingPool, logger: Logger,
    logThreshold: LogThreshold, reloads: ReloadRecord, sessions: OperatorSessionMemory,
    inbox: (any MutationInbox)? = nil
  ) {
    let settings = workspace.settings
    self.role = role
    let leader = role.link
    let forwarding = upstreams.forwarding
    let assembly = upstreams
    let upstreams = assembly.upstreams
    let calls = CallSequence(after: store.lastCall, head: store.head)
    let cache = RenderedCache(byteLimit: settings.cache.memoryBytesMax)
    self.cache = cache
    let epoch = MutationEpoch()
    let clock = SystemClock.wall
    let codec = CursorCodec(key: keys.key(for: .cursor))
    let underWay: @Sendable () -> Revision = { store.revisionUnderWay }
    let cursors = CursorIssuer(
      codec: codec, segment: store.segments.last?.nonce ?? 0,
      earlier: store.segments.dropLast().map(\.nonce), schemaVersion: Self.changeSchemaVersion,
      head: store.head, underWay: role.isInCluster ? underWay : nil)
    let signal = CommitSignal { try await Task.sleep(for: $0) }
    let overlaid = OverlaidEntities(store.overlays)
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    devices = DeviceRegistry(
      store: store, settings: DeviceSettings(settings.devices), clock: clock,
      expiryClock: expiryClock.clock, random: random, signal: signal, logger: logger,
      disabled: disabled, leader: leader, isCutOff: { role.isCutOff },
      whenChanged: { push.noteDevices() })
    let deadline = QueryDeadline(limit: settings.limits.queryDeadline) { SystemClock.uptime() }
    let gate = StoredDataGate(workspace)
    changes = ChangeFeed(
      store: store.reading,
      validator: CursorValidator(
        codec: codec, segments: store.segments, schemaVersion: Self.changeSchemaVersion),
      entities: EntityRenderer(catalogue: workspace.registry.catalogue), signal: signal,
      types: workspace.registry.catalogue.types,
      possibleTypes: workspace.registry.catalogue.possibleTypes, gate: gate, devices: devices,
      deadline: deadline, clock: clock, reach: FilterReach(workspace), leader: leader)
    self.signal = signal
    let memory = ListMemory()
    entities = EntityReader(
      store: store.reading,
      directory: EntityDirectory(
        registry: workspace.registry, local: workspace.local, links: workspace.links),
      renderer: EntityRenderer(catalogue: workspace.registry.catalogue),
      tokens: PageTokenCodec(key: keys.key(for: .page)),
      deadline: deadline, gate: gate, lists: memory, clock: clock,
      uptime: { SystemClock.uptime() })
    writes = EntityWriting.writes(
      workspace, store: store, calls: calls, epoch: epoch, deadline: deadline,
      reviewer: hooksOut.reviewer)
    let failures = FailureMemory(clock: clock, random: { Double.random(in: 0..<1) })
    let directory = OperationDirectory(registry: workspace.registry)
    let reader = QueryReader(
      upstreams: upstreams, store: store, calls: calls, cache: cache, epoch: epoch,
      failures: failures, overlaid: overlaid,
      shadow: ShadowReads(
        upstreams: upstreams, clock: clock, random: { Double.random(in: 0..<1) }, logger: logger),
      leader: leader, clock: clock, logger: logger)
    self.reader = reader
    lists = ListDiffer(
      reader: reader, collections: entities, store: store.reading,
      entities: EntityRenderer(catalogue: workspace.registry.catalogue), cursors: cursors,
      memory: memory)
    let ledger = ListLedger(bytesMax: settings.limits.listBytesMax)
    let followed = LiveLists(
      entities: entities, memory: memory,
      ledger: ledger, cursors: cursors,
      devices: devices, signal: signal, sleep: { try await Task.sleep(for: $0) })
    // Caches drop what a commit touched before the head that includes the commit is published.
    store.observe { report in
      overlaid.note(report)
      cache.note(report)
      cursors.publish(report.head)
      signal.note(report)
      followed.note(report)
      if settings.push.isOn { push.note(report) }
      hooksOut.note(report)
    }
    live = LiveServices(
      lists: followed,
      streams: LiveStreams(
        devices: devices, signal: signal,
        codec: LivePositionCodec(key: keys.key(for: .live)), ledger: ledger, random: random))
    operations = OperationService(
      directory: directory,
      reader: reader,
      mutations: MutationRunner(
        upstreams: upstreams, store: store, calls: calls, epoch: epoch, clock: clock,
        logger: logger, hooks: hooksOut.subscriptions, leader: leader),
      explainer: Explainer(store: store.reading, cache: cache, clock: clock), signal: signal,
      devices: devices, differ: lists, temporary: TemporaryVariables(store: store.reading),
      leader: leader, makeKey: { RandomName.make() })
    unregistered = UnregisteredDocuments(
      policy: UnregisteredPolicy(settings.graphQL.unregistered),
      // With several upstreams such documents are refused.
      upstream: upstreams.all[0].client, shares: upstreams.all[0].shares,
      leader: leader, makeKey: { RandomName.make() }, logger: logger)
    let live = LiveAssembly(
      workspace, upstreams: assembly, store: store,
      cache: cache, calls: calls, epoch: epoch, failures: failures,
      devices: devices, signal: signal, leader: leader, logger: logger)
    subscriptions = live.hub
    connections = live.connections
    standing = live.standing
    overview = UpstreamOverview(upstreams: upstreams, connections: live.connections)
    health = HealthCheck(
      store: store.reading, upstreams: upstreams,
      operationCount: directory.descriptions.count, uptime: { SystemClock.uptime() },
      isReplica: leader != nil, isLooking: { leader?.hasLooked == false },
      lastReload: { reloads.last })
    let tickets = StreamTickets(clock: clock, random: random)
    callers = CallerIdentifier(
      adminToken: settings.adminToken?.revealed, viewerToken: settings.viewerToken?.revealed,
      rules: forwarding, keys: keys, tokens: accounts.tokens, devices: devices, tickets: tickets,
      sessions: OperatorSessions(
        memory: sessions,
        adminToken: settings.adminToken?.revealed, viewerToken: settings.viewerToken?.revealed,
        clock: clock, random: random, whenEnded: { signal.end(device: $0) }),
      storedRoles: workspace.registry.storedRoles)
    let environment = QueueAssembly.environment(
      settings, clock: expiryClock, hookTimeMax: hooksOut.reviewer?.timeMax ?? .zero,
      term: role.leader?.term ?? "")
    let sync = SyncQueue(
      store: store, registry: workspace.registry, localTypes: Set(workspace.local.types.keys),
      upstreams: upstreams, calls: calls, epoch: epoch, cursors: cursors,
      devices: devices, signal: signal,
      sealer: Sealer(key: keys.key(for: .credential), random: random),
      environment: environment,
      concurrency: QueueAssembly.concurrency(settings),
      transientCodes: Set(settings.queue.transientCodes), clock: clock, logger: logger,
      ownWrites: workspace.local.isEmpty
        ? nil
        : EntityWriting.own(
          workspace, store: store, deadline: deadline, reviewer: hooksOut.reviewer),
      tracer: tracer, leader: leader,
      inbox: inbox.map {
        ClusterInbox($0, store: store, overlaid: overlaid, environment: environment)
      }, makeID: { RandomName.make(at: clock.now()) })
    self.sync = sync
    self.push = push
    self.hooksOut = hooksOut
    hooks = HookService(
      hooks: HooksCheck(settings: settings.hooks, outline: workspace.registry.outline).hooks,
      outline: workspace.registry.outline, store: store, calls: calls, epoch: epoch, clock: clock,
      logger: logger)
    let signOut = QueueCommand.signOut(QueueAssembly.signOutPolicy(settings))
    self.accounts = AccountService(
      provider: accounts.provider, rules: AccountRules(settings.accounts), devices: devices,
      networks: KnownNetworks(store: store, key: keys.key(for: .network), clock: clock),
      tickets: tickets,
      clock: clock, logger: logger,
      whenSignedOut: { signedOut async throws(Failure) in
        try await push.unregister(device: signedOut.device)
        _ = try await sync.perform(signOut, on: signedOut.device)
      })
    signingKeys = accounts.signingKeys
    purger = Purger(
      store: store, calls: calls, epoch: epoch, ownTypes: Set(workspace.local.types.keys),
      names: Purger.Names(workspace.registry))
    sql = SQLConsole(
      store: store.reading, deadline: settings.limits.queryDeadline, clock: clock)
    backups = BackupFolder(
      store: store, dataFolder: settings.dataFolder,
      sealing: DataEncryption(settings, keys: keys)?.backups,
      makeFolder: { (try? DataFolder(path: $0).make()) != nil }, makeName: { BackupName.now() },
      files: { folder in await pool.run { BackupFiles.list(folder) } })
    backups.removeLeftovers()
    tables = TableMaintenance(store: store)
    self.logThreshold = logThreshold
    openAPI = OpenAPISource.reading(workspace)
    self.loggedIDs =
      switch settings.log.ids {
      case .plain: .plain
      case .hashed: .hashed(keys)
      case .off: .off
      }
    self.cursors = cursors
    self.settings = settings
    self.logger = logger
  }

  func metrics(_ registry: PrometheusRegistry) -> MetricsEndpoint {
    MetricsEndpoint(
      access: settings.metrics.access == .admin ? .admin : .open,
      token: settings.metrics.token?.revealed, callers: callers
    ) { showsHosts, isOpenMetrics in
      MetricsText.text(
        registry.families(showsHosts: showsHosts), as: isOpenMetrics ? .openMetrics : .prometheus)
    }
  }

  /// - Parameters:
  ///   - history: the metrics of the last hours, which outlive a reload.
  ///   - families: reads the metrics of the service.
  func serviceOverview(
    _ share: ProcessShare
  ) -> ServiceOverview {
    ServiceOverview(
      history: share.history,
      families: { [metrics = share.metrics] in metrics.families(showsHosts: true) },
      health: health, upstreams: overview, clock: SystemClock.wall, started: share.started)
  }

  /// The metrics of its parts.
  func serviceMetrics(store: Store, cluster: (any ClusterStatus)?) -> ServiceMetrics {
    ServiceMetrics(
      store: store, cursors: cursors, cache: cache, reader: reader,
      upstreams: overview, operationCount: operations.directory.operations.count,
      dataFolder: settings.dataFolder, cluster: cluster)
  }

  func services(
    files: StaticFiles?, storedFiles: FileServices?, s3: S3Services?, metrics: MetricsEndpoint,
    console: ConsoleServices
  ) -> Services {
    var services = Services(
      parts: settings.parts, operations: operations, subscriptions: subscriptions,
      standing: standing,
      upstreams: overview, unregistered: unregistered, entities: entities, lists: lists,
      callers: callers,
      devices: devices, accounts: accounts, signingKeys: signingKeys, changes: changes,
      live: live, cursors: cursors, purger: purger, sql: sql, console: console,
      backups: backups,
      tables: tables,
      logThreshold: logThreshold, writes: writes, storedFiles: storedFiles, s3: s3, sync: sync,
      push: push, hooks: hooks, hooksOut: hooksOut, health: health,
      metrics: metrics, hasMetrics: settings.metrics.listen.isEmpty, files: files,
      cors: CORSPolicy(
        origins: settings.corsOrigins.map(\.description),
        publicOrigin: settings.publicURL.map {
          "\($0.http.origin.scheme.rawValue)://\($0.http.origin.authority)"
        }),
      version: Version.text, openAPI: openAPI,
      clientFile: { ClientLibrary.file($0) },
      bodyBytesMax: settings.limits.bodyBytesMax,
      responseCacheBytesMax: settings.cache.memoryBytesMax / 2,
      streamStallMax: settings.limits.streamStall,
      compressionBytesMin: ServerLimits().compressionBytesMin, clock: SystemClock.wall,
      logger: logger)
    services.loggedIDs = loggedIDs
    services.isBehindCDN = settings.isBehindCDN
    services.role = role
    return services
  }

  /// What a replica drops from memory when the log changes tables.
  func appliedTables(
    accounts: AccountDirectory?, files: FileService?, s3Keys: S3Keys?,
    endCredentials: @escaping @Sendable () -> Void
  ) -> AppliedTables {
    AppliedTables(
      devices: devices, accounts: accounts, signingKeys: signingKeys, s3Keys: s3Keys,
      files: files, endCredentials: endCredentials, logger: logger)
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
      isOn: settings.isOn, registration: registration,
      registrationsPerMinute: settings.registrationsPerMinute,
      expiry: settings.expiry)
  }
}

extension UnregisteredPolicy {
  init(_ setting: GraphQLSettings.Unregistered) {
    self =
      switch setting {
      case .refuse: .refuse
      case .log: .log
      case .allow: .allow
      }
  }
}

/// The sync queue's environment, made from settings and the system's clock and random numbers.
enum QueueAssembly {
  /// The sync queues use at most half of the concurrent calls to each upstream, so that a device that
  /// reconnects with a thousand mutations does not delay readers.
  static func concurrency(_ settings: Settings) -> SendConcurrency {
    let limits = settings.allUpstreams.map {
      ($0.name.text, max(1, $0.settings.concurrencyMax / 2))
    }
    return SendConcurrency(
      limits.map(\.1).min() ?? 1, limits: Dictionary(uniqueKeysWithValues: limits))
  }

  static func signOutPolicy(_ settings: Settings) -> SignOutPolicy {
    switch settings.queue.onLogout {
    case .drain: .drain
    case .drop: .drop
    case .park: .park
    }
  }

  /// Returns the deadline for attempts that were lost. A call's own timeout, or the time limit of the hooks
  /// that are asked before a list of writes, ends an attempt first.
  static func answerDeadline(_ settings: Settings, hookTimeMax: Duration) -> Duration {
    let timeout = settings.allUpstreams.map(\.settings.timeout).max() ?? .zero
    return max(timeout * 2, hookTimeMax) + .seconds(10)
  }

  /// - Parameters:
  ///   - hookTimeMax: how long hooks can take to decide about one list of writes.
  ///   - term: the node and the epoch of a leader. Its queue can be opened more than once in an epoch, so a claim
  ///     shows which opening made it.
  static func environment(
    _ settings: Settings, clock: TrustedClock, hookTimeMax: Duration, term: String = ""
  ) -> QueueEnvironment {
    let queue = settings.queue
    return QueueEnvironment(
      policy: QueuePolicy(
        debounce: queue.debounce, parallel: queue.parallelMax,
        forceDeadline: queue.forceDeadline, probe: queue.probeInterval,
        answerDeadline: answerDeadline(settings, hookTimeMax: hookTimeMax),
        itemsMax: queue.itemsMax, quota: DataQuota(settings.devices)),
      wall: clock.now(), reading: { SystemClock.uptime() },
      boot: term.isEmpty ? RandomName.make() : "\(term).\(RandomName.make())",
      random: { UInt64.random(in: 0...UInt64.max) },
      sleep: { try await Task.sleep(for: $0) })
  }
}

/// The use cases that write entities, wired to a store.
enum EntityWriting {
  static func writes(
    _ workspace: Workspace, store: Store, calls: CallSequence, epoch: MutationEpoch,
    deadline: QueryDeadline, reviewer: HookReviewer?
  ) -> EntityWrites {
    let clock = SystemClock.wall
    let catalogue = workspace.registry.catalogue
    let entities = renderer(workspace)
    return EntityWrites(
      own: own(workspace, store: store, deadline: deadline, reviewer: reviewer),
      corrections: CorrectionService(
        catalogue: catalogue, store: store, entities: entities, calls: calls, epoch: epoch,
        clock: clock, deadline: deadline,
        origins: workspace.settings.upstreams.isEmpty
          ? [:] : workspace.registry.upstreamsOfTypes.compactMapValues { $0.min() },
        reach: FilterReach(workspace)))
  }

  /// The writes to local types, of requests and of the queue.
  static func own(
    _ workspace: Workspace, store: Store, deadline: QueryDeadline, reviewer: HookReviewer?
  ) -> OwnDataWrites {
    let clock = SystemClock.wall
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    return OwnDataWrites(
      schema: workspace.local, store: store, entities: renderer(workspace),
      identifiers: IdentifierMaker(clock: clock, random: random), clock: clock,
      deadline: deadline, quota: DataQuota(workspace.settings.devices),
      reach: FilterReach(workspace), reviewer: reviewer)
  }

  /// The renderer of entities as their owners read them.
  static func renderer(_ workspace: Workspace) -> EntityRenderer {
    EntityRenderer(
      catalogue: workspace.registry.catalogue, views: workspace.registry.views.values)
  }
}

extension FilterReach {
  init(_ workspace: Workspace) {
    self.init(
      graph: EntityGraph(workspace.registry.catalogue, links: workspace.links),
      local: workspace.local, gate: StoredDataGate(workspace))
  }
}

extension DataQuota {
  init(_ settings: DevicesSettings) {
    self.init(
      ownerBytesMax: settings.ownerBytesMax, unboundBytesMax: settings.unboundBytesMax)
  }
}
