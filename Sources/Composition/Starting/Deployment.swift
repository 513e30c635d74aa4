import Accounts
import Endpoints
import FoundationEssentials
import Gateway
import HTTPServer
import Logging
import Model
import Storage
import Synchronization
import Transport
import Upstream

/// What all deployments of a process share: it stays when a reload replaces one by the next.
struct ProcessShare: Sendable {
  let group: EventLoopGroup
  /// Reading the system's certificate authorities takes a large part of a start.
  let clientTLS: ClientTLS
  let tracing: TracingAssembly
  /// The latest lines of the log, for operators.
  let logRing: LogRing
  /// The metrics of the last hours.
  let history = MetricHistory()
  let pulses = UpstreamPulses()
  /// The sessions of operators who signed in to the console.
  let sessions = OperatorSessionMemory()
  let started = SystemClock.wall.now()
  let metrics: PrometheusRegistry
  let logThreshold: LogThreshold
  let environment: [String: String]
  let reloads: ReloadRecord
  /// Nil for a single machine.
  let cluster: ClusterNode?
  /// Nil without a standby.
  var primary: PrimaryNode?
  /// Nil outside a cluster.
  var membership: ClusterMembership?
  let logger: Logger
}

/// One set of operations and settings in service: the open store, the modules wired to it, and their
/// background work. A reload closes it and opens the next one on the same data folder.
///
/// The store is opened first and closed last, so that nothing is served that cannot be stored and
/// nothing is lost that was acknowledged.
final class Deployment: Sendable {
  /// Interval between updates of the queue gauges.
  private static let gaugeInterval = Duration.seconds(15)

  let workspace: Workspace
  let handler: LarderHandler
  /// The handler of the service's own addresses: ``handler``, with what the node's role in its cluster adds.
  let served: any RequestHandler
  /// What a replica drops from memory when the log changes tables.
  let applied: AppliedTables
  /// Whether only the log of the cluster writes the store.
  private let isReplica: Bool
  let metricsHandler: MetricsHandler
  /// The metrics that its parts count by themselves.
  let metrics: ServiceMetrics
  /// Whether the pages at `/` were found.
  let hasPages: Bool
  private let store: Store
  private let copy: ReadOnlyCopy?
  /// Nil on a read-only copy, and if a degraded start is refused.
  private let reserve: DiskReserve?
  private let gauges: QueueGauges
  private let fileGauges: FileGauges
  private let overview: ServiceOverview
  private let maintenance: StoreMaintenance
  /// Nil if files are switched off.
  private let filesMaintenance: FilesMaintenance?
  private let publicAddress: PublicAddress
  private let signingKeys: LocalKeys?
  private let queue: QueueWorker
  /// Nil outside a cluster.
  private let drainer: InboxDrainer?
  private let subscriptions: SubscriptionHub
  private let connections: SubscriptionsByUpstream
  private let standing: StandingWork
  private let push: PushAssembly
  private let hooksOut: HooksOutAssembly
  private let upstreams: UpstreamAssembly
  private let health: HealthCheck
  private let sessions: OperatorSessions?
  private let signal: CommitSignal
  private let cluster: ClusterNode?
  private let primary: PrimaryNode?
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// Opens the store and wires the modules, without background work yet. Waits for a store that another
  /// process holds for `start.lockWait`.
  ///
  /// - Throws: ``StartFailure`` for faults that the operator can fix.
  static func open(_ workspace: Workspace, _ share: ProcessShare) async throws -> Deployment {
    let settings = workspace.settings
    let logger = share.logger
    let role = share.membership?.role() ?? .alone
    let folder = DataFolder(path: settings.dataFolder)
    try folder.make(settings.start.degraded)
    try DataEncryption.checkKeyIsGiven(settings, environment: share.environment)
    let copy = try copyIfReadOnly(settings, logger: logger)
    let reserve =
      copy == nil && settings.start.degraded == .allow ? DiskReserve(folder: folder.path) : nil
    let store: Store
    do {
      store = try await StoreOpening(
        folder: copy?.path ?? folder.path, markerName: folder.markerName,
        types: workspace.registry.catalogue.types, local: workspace.local,
        patience: settings.start.lockWait, reserve: reserve,
        role: try share.cluster?.storeRole() ?? share.primary?.storeRole ?? .alone,
        logger: logger
      ).open()
    } catch {
      copy?.remove()
      throw error
    }
    if copy != nil || role.replica != nil { store.refuseWrites() }
    if let reserve { store.whenFull { reserve.release(logger: logger) } }
    do {
      let keys = try await keys(
        of: folder, store, settings, marks: copy == nil && role.replica == nil,
        environment: share.environment,
        sharedRoot: share.cluster?.rootBytes() ?? share.primary?.rootBytes, logger: logger)
      observeDamage(of: store, folder: settings.dataFolder, logger: logger)
      let deployment = try await Deployment(
        workspace, share, role: role, store: store, copy: copy, reserve: reserve, keys: keys)
      share.cluster?.noteOpened(.init(store: store, memories: deployment.applied))
      share.primary?.noteOpened(store)
      return deployment
    } catch {
      store.close()
      copy?.remove()
      throw error
    }
  }

  private init(
    _ workspace: Workspace, _ share: ProcessShare, role: ClusterRole, store: Store,
    copy: ReadOnlyCopy?,
    reserve: DiskReserve?, keys: KeyRing
  ) async throws {
    let settings = workspace.settings
    let (group, logger) = (share.group, share.logger)
    let isReplica = role.replica != nil
    let upstreams = try UpstreamAssembly(
      settings, group: group, tls: share.clientTLS, pulses: share.pulses, isReplica: isReplica,
      logger: logger)
    if isReplica { await upstreams.refuseCalls() }
    let clock = TrustedClock(
      newest: try await store.livedUntil(), wall: SystemClock.wall,
      reading: { SystemClock.uptime() }, trust: settings.clock.trust, logger: logger)
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    let accounts = try await AccountAssembly.make(
      settings, sharedClaims: workspace.registry.sharedClaims, store: store,
      client: upstreams.others, clock: clock,
      sealer: Sealer(key: keys.key(for: .sealing), random: random), random: random,
      renewsKeys: !isReplica, logger: logger)
    let push = try PushAssembly(
      settings, store: store, group: group, tls: share.clientTLS, clock: clock, logger: logger)
    let hooksOut = try HooksOutAssembly(
      workspace, store: store, group: group, tls: share.clientTLS, clock: clock, logger: logger)
    let disabled = DisabledAccounts(try await store.disabledAccounts())
    let gateway = GatewayAssembly(
      workspace: workspace, role: role, store: store, upstreams: upstreams, keys: keys,
      accounts: accounts,
      push: push.service, hooksOut: hooksOut.service, disabled: disabled,
      tracer: share.tracing.tracer, clock: clock,
      pool: group.blockingPool, logger: logger, logThreshold: share.logThreshold,
      reloads: share.reloads, sessions: share.sessions,
      inbox: share.cluster.map { BackendInbox(node: $0) })
    let overview = gateway.serviceOverview(share)
    let publicAddress = PublicAddress(settings)
    let files = try FilesAssembly.service(
      settings, store: store, keys: keys, group: group, tls: share.clientTLS,
      expiryClock: clock.clock, disabled: disabled)
    let s3 =
      settings.s3.isOn
      ? files.map {
        FilesAssembly.s3(
          $0, settings.s3, store: store, keys: keys, random: random, disabled: disabled,
          logger: logger)
      } : nil
    let directory =
      settings.accounts.provider == .local
      ? AccountDirectory(
        store: store, tickets: gateway.callers.tickets, disabled: disabled, signal: gateway.signal,
        clock: SystemClock.wall, wakeQueues: { [worker = gateway.sync.worker] in worker.wake($0) })
      : nil
    var services = gateway.services(
      files: PublicFolder.files(settings, pool: group.blockingPool),
      storedFiles: files.map {
        FileServices(
          files: $0,
          opened: OpenedFiles(
            pool: group.blockingPool, ranges: PublicFolder.rangeLimits(settings)),
          publicURL: { publicAddress.url })
      },
      s3: s3,
      metrics: gateway.metrics(share.metrics),
      console: ConsoleServices(
        accounts: directory,
        provenance: EntityProvenance(store: store.reading), overview: overview,
        signal: gateway.signal, log: share.logRing,
        settings: SettingsDump.inForce(workspace.loaded)))
    services.cluster = share.cluster
    hasPages = services.files != nil
    let handler = try LarderHandler(services)
    self.handler = handler
    served =
      switch role {
      case .alone: handler
      case .leader: LeaderHandler(handler, services) ?? handler
      case .replica: ReplicaHandler(handler, services) ?? handler
      }
    self.isReplica = isReplica
    applied = gateway.appliedTables(
      accounts: directory, files: files, s3Keys: s3?.keys,
      endCredentials: { handler.endCredentials() })
    metrics = gateway.serviceMetrics(store: store, cluster: share.cluster)
    metricsHandler = try MetricsHandler(services.metrics)
    fileGauges = FileGauges(store: store.reading)
    self.overview = overview
    gauges = QueueGauges(store: store.reading, clock: clock)
    maintenance = StoreMaintenance(
      store: store, devices: gateway.devices, queue: gateway.sync,
      registry: workspace.registry, bytesMax: settings.cache.diskBytesMax,
      keepLocal: settings.types.compactMapValues(\.keepLocal), clock: clock, logger: logger)
    filesMaintenance = files.map { FilesMaintenance(files: $0, logger: logger) }
    signingKeys = accounts.keys
    queue = gateway.sync.worker
    drainer = gateway.sync.drainer
    subscriptions = gateway.subscriptions
    connections = gateway.connections
    standing = gateway.standing
    health = gateway.health
    sessions = gateway.callers.sessions
    signal = gateway.signal
    self.workspace = workspace
    cluster = share.cluster
    primary = share.primary
    self.store = store
    self.copy = copy
    self.reserve = reserve
    self.publicAddress = publicAddress
    self.push = push
    self.hooksOut = hooksOut
    self.upstreams = upstreams
  }

  /// Checks that the folder, its database and the key belong together, and marks the database.
  ///
  /// - Parameters:
  ///   - marks: false for a database that this process does not write.
  ///   - sharedRoot: the root secret of a new folder, where machines read each other's secrets; nil for a random one.
  private static func keys(
    of folder: DataFolder, _ store: Store, _ settings: Settings, marks: Bool,
    environment: [String: String], sharedRoot: [UInt8]?, logger: Logger
  ) async throws -> KeyRing {
    let marker = try await store.marker()
    if sharedRoot == nil { try folder.checkKeyIsThere(for: marker, environment: environment) }
    var shared = (sharedRoot ?? [])[...]
    let keys = KeyRing(
      root: try folder.key(environment: environment) {
        shared.popFirst() ?? UInt8.random(in: 0...255)
      })
    try folder.check(
      keyDigest: keys.digest, against: marker, accepting: settings.start.otherKey,
      logger: logger)
    // Before the marker says that a different key was accepted.
    try FilesAssembly.checkForm(settings, key: DataEncryption(settings, keys: keys)?.files)
    if settings.isDataEncrypted {
      logger.notice(
        "files and backups are encrypted; the database is not: keep it on an encrypted disk")
      if let path = folder.keyFile {
        logger.warning(
          "a key file lies in the encrypted data folder: keep it elsewhere, or remove it",
          metadata: ["file": "\(path)"])
      }
    }
    if marks {
      try await folder.mark(store, marker: marker, keyDigest: keys.digest) {
        UInt8.random(in: 0...255)
      }
    }
    return keys
  }

  private static func observeDamage(of store: Store, folder: String, logger: Logger) {
    store.observeDamage { damage in
      logger.error(
        "the database is damaged or missing: the service is not ready until it is repaired",
        metadata: [
          "cause": "\(damage)",
          "remedy": "\(StorageStartError.text(damage, folder: folder))",
        ])
    }
  }

  private static func copyIfReadOnly(
    _ settings: Settings, logger: Logger
  ) throws(StartFailure) -> ReadOnlyCopy? {
    ReadOnlyCopy.sweep()
    guard settings.start.degraded == .allow, FileSystem.isReadOnly(at: settings.dataFolder)
    else { return nil }
    let copy = try ReadOnlyCopy(of: settings.dataFolder)
    logger.error(
      "the data folder is on a read-only file system: reads are served from a copy, writes are refused",
      metadata: ["folder": "\(settings.dataFolder)", "copy": "\(copy.path)"])
    return copy
  }

  // MARK: Lifecycle

  /// For the line of the start.
  var startNotes: Logger.Metadata {
    let called = upstreams.upstreams.all.map { "\($0.name)=\($0.client.origin ?? "none")" }
    return [
      "operations": .stringConvertible(workspace.registry.operations.count),
      "upstreams": "\(called.joined(separator: ","))",
    ]
  }

  /// Whether the service serves only reads, from a copy of the database.
  var isOnCopy: Bool { copy != nil }

  /// The reason why the store could not be opened again if it were closed; nil if none is known.
  var reasonToStayOpen: String? {
    if isOnCopy { return "the service reads from a copy of a read-only data folder" }
    if let reason = primary?.reasonToStayOpen { return reason }
    if let damage = store.damage {
      return StorageStartError.text(damage, folder: workspace.settings.dataFolder)
    }
    let folder = workspace.settings.dataFolder
    return FileSystem.isReadOnly(at: folder) ? "the data folder \(folder) is not writable" : nil
  }

  private var parts: Set<ServicePart> { workspace.settings.parts }

  /// Does what must be done before the first request.
  func prepare() async {
    // Devices find in their queues what they submitted while there was no leader.
    if cluster?.lease != nil { _ = await drainer?.drainAll() }
    // All of it writes.
    if isReplica { return }
    await filesMaintenance?.prepare()
    if parts.contains(.push) { await push.service.prepare() }
    await hooksOut.service.prepare()
  }

  /// Notes the listening addresses, which links to files name.
  ///
  /// - Returns: whether links work from other machines, as far as is known.
  func noteAddresses(_ addresses: [SocketAddress], isSecure: Bool) -> Bool {
    publicAddress.note(addresses, isSecure: isSecure)
  }

  /// Starts the background work.
  ///
  /// A replica only measures: everything else writes the store or calls other services, which the leader does
  /// for all nodes.
  func start() {
    guard !isReplica else {
      return tasks.withLock { $0 = [Task { await measure() }, Task { await chart() }] }
    }
    let started: [Task<Void, Never>] = [
      Task { await maintenance.run() },
      Task { _ = await filesMaintenance?.run() },
      Task { if parts.contains(.devices) { await queue.start() } },
      Task { if parts.contains(.devices) { await drainer?.run() } },
      Task { _ = await signingKeys?.run { try await Task.sleep(for: $0) } },
      Task { await measure() },
      Task { await chart() },
    ]
    tasks.withLock { $0 = started }
    if parts.contains(.push) { push.service.start() }
    if !isOnCopy { hooksOut.service.start() }
    // They write all the time, which a read-only copy cannot.
    if !isOnCopy { standing.start() }
  }

  private func measure() async {
    while !Task.isCancelled {
      await gauges.refresh()
      if parts.contains(.files) { await fileGauges.refresh() }
      await hooksOut.service.refreshGauges()
      sessions?.endIdle()
      reserve?.restore()
      try? await Task.sleep(for: Self.gaugeInterval)
    }
  }

  private func chart() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: MetricHistory.step)
      if !Task.isCancelled { overview.noteStep() }
    }
  }

  /// Reports not ready, and ends what would go on for long, because the process ends.
  func beginEnd() {
    health.startDraining()
    prepareToEnd()
    endStreams()
  }

  /// Begins no further attempt of the queue that no caller waits for.
  func prepareToEnd() { queue.prepareToEnd() }

  /// Ends live streams and waits of requests; clients continue with their cursors.
  func endStreams() { signal.end() }

  /// Ends the background work and closes the store. No request may be in progress.
  ///
  /// - Parameter queueEndMax: the time that the queue's attempts have, from ``prepareToEnd()`` on.
  func close(queueEndMax: Duration) async {
    let started = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in started { task.cancel() }
    await standing.end()
    await subscriptions.end()
    connections.stop()
    await queue.end(within: queueEndMax)
    if !isReplica { await maintenance.noteLived() }
    await push.end()
    await hooksOut.end()
    await upstreams.close()
    cluster?.noteClosed()
    primary?.noteClosed()
    // The observer holds the caches, which hold the store.
    store.observe { _ in }
    store.close()
    copy?.remove()
  }
}
