import Cluster
import FoundationEssentials
import HTTPServer
import Logging
import Model
import ServiceLifecycle
import Standby
import Storage
import Synchronization
import Transport
import UnixSignals

/// The first part of `serve` on a machine with a standby: until this one is the primary.
enum StandbyRun {
  /// How long responses in progress can take when the machine takes over.
  private static let drainDeadline = Duration.seconds(1)
  private static let lookInterval = Duration.milliseconds(50)

  /// Follows the primary, and serves that this machine is a standby.
  ///
  /// - Parameters:
  ///   - isStandby: see ``StandbyStart/isStandby``.
  ///   - announce: prints a line.
  /// - Returns: nil if a signal has ended the process before it was the primary.
  static func untilPrimary(
    _ settings: Settings, isStandby: Bool, environment: [String: String], logger: Logger,
    announce: @escaping @Sendable (String) -> Void
  ) async throws -> PrimaryNode? {
    guard Store.canLead else {
      throw StartFailure(
        .faultySettings,
        "A standby needs an SQLite that was built with SQLITE_ENABLE_PREUPDATE_HOOK, as Debian's is."
      )
    }
    let folder = DataFolder(path: settings.dataFolder)
    try folder.make()
    try await waitForFolder(folder, patience: settings.start.lockWait, logger: logger)
    let node = try ClusterStart.nodeID(of: folder)
    let certificates = ServerCertificates(settings.tls)
    let tls: TLSServerContext?
    do throws(TLSContextFaults) { tls = try certificates?.read() } catch {
      throw StartFailure(.faultySettings, error.description)
    }
    var logger = logger
    logger[metadataKey: "node"] = "\(node)"
    let assembly = try StandbyAssembly(settings)
    let state = StandbyState()
    let group = try EventLoopGroup(count: 1)
    let server = server(settings, state, tls: tls, group: group)
    let start = StandbyStart(
      assembly: assembly, settings: settings, folder: folder,
      identity: LeaseTaking.Identity(
        node: node.text, host: StandbyAssembly.host, version: Version.text),
      isStandby: isStandby, state: state, environment: environment, logger: logger)
    let following = FollowingService(start)
    do {
      let primary = try await serve(server, following, settings, logger: logger, announce: announce)
      await group.shutdown()
      if primary == nil { await assembly.close() }
      return primary
    } catch {
      await group.shutdown()
      await assembly.close()
      throw error
    }
  }

  /// Waits for a process of this machine that drains: it has the folder, the addresses, and the lease.
  private static func waitForFolder(
    _ folder: DataFolder, patience: Duration, logger: Logger
  ) async throws {
    let deadline = ContinuousClock.now + patience
    var isFirst = true
    while Store.isInUse(folder: folder.path) {
      guard ContinuousClock.now < deadline else {
        throw StartFailure(
          .dataFolder, StorageStartError.text(.inUse(folder: folder.path), folder: folder.path))
      }
      if isFirst {
        logger.warning(
          "waiting for the data folder, which another process holds",
          metadata: ["folder": "\(folder.path)", "patience": "\(DurationText.print(patience))"])
      }
      isFirst = false
      try await Task.sleep(for: lookInterval)
    }
  }

  private static func serve(
    _ server: HTTPService, _ following: FollowingService, _ settings: Settings, logger: Logger,
    announce: @escaping @Sendable (String) -> Void
  ) async throws -> PrimaryNode? {
    let addresses: [SocketAddress]
    do throws(ListenError) { addresses = try await server.listen() } catch {
      throw StartFailure(
        .addressInUse,
        "Larder cannot listen: \(error). Free the address, or set another one with `listen`.")
    }
    if let first = addresses.first {
      let scheme = settings.tls.certificateFile == nil ? "http" : "https"
      announce("larder standby on \(ListeningAddress.text(first, scheme: scheme))")
    }
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let noting = Task {
      for await _ in hangups {
        logger.notice(
          "a standby reads operations and settings at its start: restart it to read them again")
      }
    }
    defer { noting.cancel() }
    let services = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: server),
          .init(service: following, successTerminationBehavior: .gracefullyShutdownGroup),
        ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await services.run()
    return following.primary
  }

  private static func server(
    _ settings: Settings, _ state: StandbyState, tls: TLSServerContext?, group: EventLoopGroup
  ) -> HTTPService {
    let hasOwnMetrics = !settings.metrics.listen.isEmpty
    let main = StandbyHandler(state: state, metrics: hasOwnMetrics ? .none : .init(settings))
    let metrics = StandbyHandler(state: state, metrics: .init(settings))
    var drain = HTTPServerConfiguration.Drain()
    drain.deadline = drainDeadline
    let configuration = HTTPServerConfiguration(
      listeners: (settings.listen + settings.s3.served).map {
        .init(Endpoint($0), tls: tls, handler: main)
      } + settings.metrics.listen.map { .init(Endpoint($0), tls: tls, handler: metrics) },
      limits: ServerAssembly.limits(settings.limits), drain: drain,
      makeSeed: { UInt64.random(in: 0...UInt64.max) })
    return HTTPService(configuration: configuration, group: group, handler: main)
  }
}

/// Runs ``StandbyStart`` as a service.
private final class FollowingService: Service {
  private let start: StandbyStart
  private let found = Mutex<PrimaryNode?>(nil)

  init(_ start: StandbyStart) { self.start = start }

  /// Set once this machine leads.
  var primary: PrimaryNode? { found.withLock { $0 } }

  func run() async throws {
    try await cancelWhenGracefulShutdown { [self] in
      do {
        let primary = try await start.run()
        primary.start()
        found.withLock { $0 = primary }
      } catch is CancellationError {
        return
      }
    }
  }
}

/// Ends the services of a primary that must write no more, so that the program starts again as a standby.
final class PrimaryWatch: Service {
  private let primary: PrimaryNode
  private let hasEndSignal = Atomic(false)

  init(_ primary: PrimaryNode) { self.primary = primary }

  /// Whether the program must restart: the lease was lost, and no signal has ended it.
  var startsOver: Bool { primary.isLost && !hasEndSignal.load(ordering: .acquiring) }

  /// Keeps the program from restarting.
  func noteEnd() { hasEndSignal.store(true, ordering: .releasing) }

  func run() async {
    await cancelWhenGracefulShutdown { [self] in
      while !Task.isCancelled, !primary.isLost { await primary.lost.wait(after: 0) }
    }
  }
}
