import Accounts
import Endpoints
import FoundationEssentials
package import Gateway
import HTTPClient
package import HTTPServer
package import Logging
import Model
import ServiceLifecycle
import Storage
package import Transport
import Upstream

/// The running service: wires all modules, and starts and ends them in order.
///
/// The store is opened first and closed last, so that nothing is served that cannot be stored and
/// nothing is lost that was acknowledged.
package final class LarderService: Service {
  /// Interval between updates of the queue gauges.
  private static let gaugeInterval = Duration.seconds(15)

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
  private let parts: Set<ServicePart>
  private let publicAddress: PublicAddress
  private let signingKeys: LocalKeys?
  private let queue: QueueWorker
  private let subscriptions: SubscriptionHub
  private let connections: SubscriptionsByUpstream
  private let standing: StandingWork
  private let push: PushAssembly
  private let hooksOut: HooksOutAssembly
  private let tracing: TracingAssembly
  private let server: HTTPService
  /// Number of addresses, at the end of the list, that serve only metrics.
  private let metricsListenerCount: Int
  private let queueEndMax: Duration
  private let upstreams: UpstreamAssembly
  private let certificates: ServerCertificates?
  private let group: EventLoopGroup
  /// The lines of the route table, `METHOD /pattern`.
  package let routes: [String]
  private let logger: Logger
  /// For the line of the start.
  private let startNotes: Logger.Metadata
  private let whenListening: @Sendable ([SocketAddress]) -> Void

  private init(
    store: Store, copy: ReadOnlyCopy?, reserve: DiskReserve?, gauges: QueueGauges,
    overview: ServiceOverview,
    maintenance: StoreMaintenance, filesMaintenance: FilesMaintenance?, parts: Set<ServicePart>,
    publicAddress: PublicAddress,
    signingKeys: LocalKeys?, queue: QueueWorker, subscriptions: SubscriptionHub,
    connections: SubscriptionsByUpstream, standing: StandingWork, push: PushAssembly,
    hooksOut: HooksOutAssembly, tracing: TracingAssembly, server: HTTPService,
    metricsListenerCount: Int, queueEndMax: Duration, upstreams: UpstreamAssembly,
    certificates: ServerCertificates?,
    group: EventLoopGroup, routes: [String], logger: Logger, startNotes: Logger.Metadata,
    whenListening: @escaping @Sendable ([SocketAddress]) -> Void
  ) {
    self.startNotes = startNotes
    self.whenListening = whenListening
    self.store = store
    self.copy = copy
    self.reserve = reserve
    self.gauges = gauges
    fileGauges = FileGauges(store: store.reading)
    self.overview = overview
    self.maintenance = maintenance
    self.filesMaintenance = filesMaintenance
    self.parts = parts
    self.publicAddress = publicAddress
    self.signingKeys = signingKeys
    self.queue = queue
    self.subscriptions = subscriptions
    self.connections = connections
    self.standing = standing
    self.push = push
    self.hooksOut = hooksOut
    self.tracing = tracing
    self.server = server
    self.metricsListenerCount = metricsListenerCount
    self.queueEndMax = queueEndMax
    self.upstreams = upstreams
    self.certificates = certificates
    self.group = group
    self.routes = routes
    self.logger = logger
  }

  /// Opens the store and wires the modules, without listening yet. Waits for a store that another
  /// process holds for `start.lockWait`.
  ///
  /// - Parameters:
  ///   - logRing: the latest lines of the log, for operators.
  ///   - whenListening: called by ``run()`` with the addresses, including the ports assigned
  ///     for port 0.
  /// - Throws: ``StartFailure`` for faults that the operator can fix.
  package static func open(
    _ workspace: Workspace, metrics: PrometheusRegistry, logger: Logger,
    logThreshold: LogThreshold = LogThreshold(.info), logRing: LogRing = LogRing(),
    logSink: LineSink? = nil,
    environment: [String: String],
    whenListening: @escaping @Sendable ([SocketAddress]) -> Void
  ) async throws -> LarderService {
    let settings = workspace.settings
    let certificates = ServerCertificates(settings.tls)
    let tls = try readAtStart(certificates, logger: logger)
    let folder = DataFolder(path: settings.dataFolder)
    try folder.make(settings.start.degraded)
    try DataEncryption.checkKeyIsGiven(settings, environment: environment)
    let copy = try copyIfReadOnly(settings, logger: logger)
    let reserve =
      copy == nil && settings.start.degraded == .allow ? DiskReserve(folder: folder.path) : nil
    let store: Store
    do {
      store = try await StoreOpening(
        folder: copy?.path ?? folder.path, markerName: folder.markerName,
        types: workspace.registry.catalogue.types, local: workspace.local,
        patience: settings.start.lockWait, reserve: reserve, logger: logger
      ).open()
    } catch {
      copy?.remove()
      throw error
    }
    if copy != nil { store.refuseWrites() }
    if let reserve { store.whenFull { reserve.release(logger: logger) } }
    do {
      let marker = try await store.marker()
      try folder.checkKeyIsThere(for: marker, environment: environment)
      let keys = KeyRing(
        root: try folder.key(environment: environment) { UInt8.random(in: 0...255) })
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
      if copy == nil {
        try await folder.mark(store, marker: marker, keyDigest: keys.digest) {
          UInt8.random(in: 0...255)
        }
      }
      store.observeDamage { damage in
        logger.error(
          "the database is damaged or missing: the service is not ready until it is repaired",
          metadata: [
            "cause": "\(damage)",
            "remedy": "\(StorageStartError.text(damage, folder: settings.dataFolder))",
          ])
      }
      let group = try EventLoopGroup(count: EventLoopGroup.coreCount)
      let clientTLS = ClientTLS()
      let upstreams = try UpstreamAssembly(
        settings, group: group, tls: clientTLS, logger: logger)
      let clock = TrustedClock(
        newest: try await store.livedUntil(), wall: SystemClock.wall,
        reading: { SystemClock.uptime() }, trust: settings.clock.trust, logger: logger)
      let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
      let accounts = try await AccountAssembly.make(
        settings, sharedClaims: workspace.registry.sharedClaims, store: store,
        client: upstreams.others, clock: clock,
        sealer: Sealer(key: keys.key(for: .sealing), random: random), random: random,
        logger: logger)
      let push = try PushAssembly(
        settings, store: store, group: group, tls: clientTLS, clock: clock, logger: logger)
      let hooksOut = try HooksOutAssembly(
        workspace, store: store, group: group, tls: clientTLS, clock: clock, logger: logger)
      let tracing = try TracingAssembly(
        settings.tracing, group: group, tls: clientTLS, logger: logger)
      let gateway = GatewayAssembly(
        workspace: workspace, store: store, upstreams: upstreams, keys: keys, accounts: accounts,
        push: push.service, hooksOut: hooksOut.service, tracer: tracing.tracer, clock: clock,
        pool: group.blockingPool, logger: logger, logThreshold: logThreshold)
      let overview = gateway.serviceOverview { metrics.families(showsHosts: true) }
      let publicAddress = PublicAddress(settings)
      let files = try FilesAssembly.service(
        settings, store: store, keys: keys, group: group, tls: clientTLS,
        expiryClock: clock.clock)
      let services = gateway.services(
        files: PublicFolder.files(settings, pool: group.blockingPool),
        storedFiles: files.map {
          FileServices(
            files: $0,
            opened: OpenedFiles(
              pool: group.blockingPool, ranges: PublicFolder.rangeLimits(settings)),
            publicURL: { publicAddress.url })
        },
        s3: settings.s3.isOn
          ? files.map {
            FilesAssembly.s3(
              $0, settings.s3, store: store, keys: keys, random: random, logger: logger)
          } : nil,
        metrics: gateway.metrics(metrics),
        console: ConsoleServices(
          accounts: settings.accounts.provider == .local
            ? AccountDirectory(
              store: store, tickets: gateway.callers.tickets, clock: SystemClock.wall) : nil,
          provenance: EntityProvenance(store: store.reading), overview: overview,
          signal: gateway.signal, log: logRing,
          settings: SettingsDump.inForce(workspace.loaded)))
      if services.files == nil {
        logger.warning(
          "the folder of the pages at / was not found; set `public`, or install it with the binary",
          metadata: ["folder": "\(settings.publicFolder ?? "Public")"])
      }
      let handler = try LarderHandler(services)
      let server = HTTPService(
        configuration: ServerAssembly.configuration(
          settings, tls: tls, s3: handler.s3Root,
          metrics: try MetricsHandler(services.metrics), tracer: tracing.tracer,
          logThreshold: logThreshold,
          logSink: logSink,
          logger: logger,
          notReady: {
            [health = gateway.health, signal = gateway.signal, queue = gateway.sync.worker] in
            health.startDraining()
            queue.prepareToEnd()
            signal.end()
          }),
        group: group, handler: handler)
      let serviceMetrics = gateway.serviceMetrics(server: server, store: store)
      metrics.collect { serviceMetrics.families() + ProcessMetrics.families() }
      return LarderService(
        store: store, copy: copy, reserve: reserve,
        gauges: QueueGauges(store: store.reading, clock: clock), overview: overview,
        maintenance: StoreMaintenance(
          store: store, devices: gateway.devices, queue: gateway.sync,
          registry: workspace.registry, bytesMax: settings.cache.diskBytesMax,
          keepLocal: settings.types.compactMapValues(\.keepLocal), clock: clock, logger: logger),
        filesMaintenance: files.map { FilesMaintenance(files: $0, logger: logger) },
        parts: settings.parts,
        publicAddress: publicAddress,
        signingKeys: accounts.keys, queue: gateway.sync.worker,
        subscriptions: gateway.subscriptions, connections: gateway.connections,
        standing: gateway.standing, push: push, hooksOut: hooksOut, tracing: tracing,
        server: server,
        metricsListenerCount: settings.metrics.listen.count,
        queueEndMax: EndDeadline.queueMax(settings.drain), upstreams: upstreams,
        certificates: certificates, group: group, routes: handler.served, logger: logger,
        startNotes: [
          "operations": "\(workspace.registry.operations.count)",
          "upstreams": "\(upstreams.upstreams.all.map(\.logged).joined(separator: ","))",
        ], whenListening: whenListening)
    } catch {
      store.close()
      copy?.remove()
      throw error
    }
  }

  /// Whether the service serves only reads, from a copy of the database.
  var isOnCopy: Bool { copy != nil }

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

  /// Listens, serves until graceful shutdown, drains, and closes the store.
  ///
  /// Listening begins here and not before, because the service group has trapped the signals by now: a
  /// signal right after the ready line drains too.
  package func run() async throws {
    do {
      await filesMaintenance?.prepare()
      if parts.contains(.push) { await push.service.prepare() }
      await hooksOut.service.prepare()
      let addresses = try await Self.listen(server)
      logStart(addresses)
      if !publicAddress.note(addresses, isSecure: certificates != nil) {
        logger.notice(
          "publicUrl is not set: links to files do not work from other machines")
      }
      ProgramPages.release()
      whenListening(addresses)
      let maintaining = Task { await maintenance.run() }
      let sweeping = Task { await filesMaintenance?.run() }
      let draining = Task { if parts.contains(.devices) { await queue.start() } }
      let renewing = Task { await signingKeys?.run { try await Task.sleep(for: $0) } }
      let measuring = Task {
        while !Task.isCancelled {
          await gauges.refresh()
          if parts.contains(.files) { await fileGauges.refresh() }
          await hooksOut.service.refreshGauges()
          reserve?.restore()
          try? await Task.sleep(for: Self.gaugeInterval)
        }
      }
      let charting = Task {
        while !Task.isCancelled {
          try? await Task.sleep(for: MetricHistory.step)
          if !Task.isCancelled { overview.noteStep() }
        }
      }
      if parts.contains(.push) { push.service.start() }
      tracing.start()
      if !isOnCopy { hooksOut.service.start() }
      // They write all the time, which a read-only copy cannot.
      if !isOnCopy { standing.start() }
      defer {
        maintaining.cancel()
        sweeping.cancel()
        draining.cancel()
        renewing.cancel()
        measuring.cancel()
        charting.cancel()
      }
      try await server.run()
    } catch {
      await close()
      throw error
    }
    await close()
    logger.info("stopped")
  }

  /// Reloads the certificate files for new connections. If one of them is faulty, all certificates stay
  /// as they were.
  func reloadCertificates() async {
    guard let certificates else {
      return logger.notice("no certificates to reload: tls.certificate is not set")
    }
    do throws(TLSContextFaults) {
      let context = try certificates.read()
      await server.replaceTLS(with: context)
      Self.warn(of: context, logger: logger)
      logger.notice("certificates reloaded")
    } catch {
      for fault in error.faults {
        logger.error("certificates were not reloaded", metadata: ["reason": "\(fault)"])
      }
    }
  }

  private static func readAtStart(
    _ certificates: ServerCertificates?, logger: Logger
  ) throws(StartFailure) -> TLSServerContext? {
    guard let certificates else { return nil }
    do throws(TLSContextFaults) {
      let context = try certificates.read()
      warn(of: context, logger: logger)
      return context
    } catch {
      throw StartFailure(.faultySettings, error.description)
    }
  }

  private static func warn(of context: TLSServerContext, logger: Logger) {
    let now = SystemClock.wall.now().milliseconds / 1000
    for warning in ServerCertificates.warnings(of: context, secondsSince1970: now) {
      logger.warning("\(warning)")
    }
  }

  private func close() async {
    await standing.end()
    await subscriptions.end()
    connections.stop()
    await queue.end(within: queueEndMax)
    await maintenance.noteLived()
    await push.end()
    await hooksOut.end()
    await tracing.end()
    await upstreams.close()
    store.close()
    copy?.remove()
    await group.shutdown()
  }

  private func logStart(_ addresses: [SocketAddress]) {
    let scheme = certificates == nil ? "http" : "https"
    let texts = addresses.map { ListeningAddress.text($0, scheme: scheme) }
    var metadata = startNotes
    metadata["version"] = "\(Version.text)"
    metadata["addresses"] = "\(texts.dropLast(metricsListenerCount).joined(separator: ","))"
    if metricsListenerCount > 0 {
      metadata["metrics"] = "\(texts.suffix(metricsListenerCount).joined(separator: ","))"
    }
    logger.notice("started", metadata: metadata)
  }

  private static func listen(_ server: HTTPService) async throws(StartFailure) -> [SocketAddress] {
    do throws(ListenError) {
      return try await server.listen()
    } catch {
      throw StartFailure(
        .addressInUse,
        "Larder cannot listen: \(error). Free the address, or set another one with `listen`.")
    }
  }
}

extension ServedUpstream {
  /// The name and the address, for the log.
  fileprivate var logged: String { "\(name)=\(client.origin ?? "none")" }
}
