import FoundationEssentials
import Gateway
import HTTPServer
import Logging
package import ServiceLifecycle
import Transport
import UnixSignals

/// The `serve` command: runs the service from settings to the end of the process.
package struct ServeCommand {
  /// Maximum wait at the end for log lines to be written.
  private static let flushMax = Duration.seconds(1)

  private let loaded: LoadedSettings
  private let reloading: Reloading
  /// The files of ``loaded``, from before the others were read.
  private let files: WorkspaceFiles
  /// Whether this machine waits for a primary, where it has a standby.
  private let isStandby: Bool
  /// Services that start before it and end after it.
  private let companions: [any Service]
  /// Lines to print after the ready line, given the first address.
  private let greeting: @Sendable (String) -> [String]

  /// How to reload operations and settings while the service runs.
  package struct Reloading: Sendable {
    let settingsFile: String?
    let watchesFiles: Bool
    let read: @Sendable () throws -> LoadedSettings

    /// - Parameters:
    ///   - settingsFile: nil for the default name.
    ///   - watchesFiles: whether to reload when a file changes, besides at SIGHUP.
    ///   - read: reads the settings again from all their sources.
    package init(
      settingsFile: String?, watchesFiles: Bool,
      read: @escaping @Sendable () throws -> LoadedSettings
    ) {
      self.settingsFile = settingsFile
      self.watchesFiles = watchesFiles
      self.read = read
    }
  }

  package init(
    _ loaded: LoadedSettings, reloading: Reloading, isStandby: Bool = false,
    companions: [any Service] = [],
    greeting: @escaping @Sendable (String) -> [String] = { _ in [] }
  ) {
    self.loaded = loaded
    self.reloading = reloading
    self.isStandby = isStandby
    files = WorkspaceFiles(settingsFile: reloading.settingsFile, loaded.settings)
    self.companions = companions
    self.greeting = greeting
  }

  /// - Throws: ``StartFailure`` for every fault that prevents the start.
  package func run() async throws {
    Allocator.boundArenas()
    let threshold = LogThreshold(loaded.settings.log)
    let metrics = PrometheusRegistry.ofProcess
    let ring = LogRing()
    let sink = ProcessLogging.sink(settings: loaded.settings.log, ring: ring)
    let logger = ProcessLogging.logger(
      "larder", settings: loaded.settings.log, threshold: threshold
    ) { sink.take(Array(($0 + "\n").utf8)) }
    let startsOver: Bool
    do {
      startsOver = try await run(
        threshold: threshold, metrics: metrics, ring: ring, sink: sink, logger: logger)
    } catch {
      await sink.finish(within: Self.flushMax)
      throw error
    }
    await sink.finish(within: Self.flushMax)
    guard startsOver else { return }
    ShippedFiles.removeUnpacked()
    let code = ProcessEnd.startOver()
    throw StartFailure(
      .dataFolder,
      "The program could not start again by itself (errno \(code)). Start it again.")
  }

  /// - Returns: whether the program must restart.
  private func run(
    threshold: LogThreshold, metrics: PrometheusRegistry, ring: LogRing, sink: LineSink,
    logger: Logger
  ) async throws -> Bool {
    // The files' digests need them.
    if let fault = StartFailure.missingAlgorithms() { throw fault }
    let early = files.state()
    for note in loaded.notes { logger.notice("\(note)") }
    try await SchemaPull(loaded.settings).keepIfMissing()
    // With the schema that was pulled; but the settings were read before.
    let read = files.state().with(files.settingsFile, of: early)
    let workspace = try Workspace.open(loaded, describesInterface: true)
    for warning in workspace.warnings { logger.warning("\(warning)") }
    let environment = ProcessInfo.processInfo.environment
    var primary: PrimaryNode?
    if loaded.settings.standby.isOn {
      primary = try await StandbyRun.untilPrimary(
        loaded.settings, isStandby: isStandby, environment: environment, logger: logger
      ) { StandardStreams.announce($0) }
      // A signal has ended it.
      if primary == nil { return false }
    } else if isStandby {
      throw StartFailure(
        .faultySettings,
        "--standby needs `standby.folder` or `standby.bucket`. See docs/standby.md.")
    }
    let scheme = loaded.settings.tls.certificateFile == nil ? "http" : "https"
    let service: LarderService
    do {
      service = try await LarderService.open(
        workspace, metrics: metrics, logger: logger, logThreshold: threshold, logRing: ring,
        logSink: sink,
        environment: environment, primary: primary
      ) {
        [
          greeting, mainCount = loaded.settings.listen.count,
          s3Count = loaded.settings.s3.isOn ? loaded.settings.s3.listen.count : 0
        ] addresses in
        guard let first = addresses.first else { return }
        let address = ListeningAddress.text(first, scheme: scheme)
        StandardStreams.announce("larder listening on \(address)")
        for address in addresses.dropFirst(mainCount).prefix(s3Count) {
          StandardStreams.announce(
            "larder serves S3 on \(ListeningAddress.text(address, scheme: scheme))")
        }
        for line in greeting(address) { StandardStreams.announce(line) }
      }
    } catch {
      // Another machine can take the lease at once.
      await primary?.end()
      throw error
    }
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let recovery =
      service.isOnCopy
      ? FolderRecovery(folder: loaded.settings.dataFolder, logger: logger) : nil
    let watch = primary.map { PrimaryWatch($0) }
    let reloader = Reloader(
      settingsFile: reloading.settingsFile, workspace: workspace, digests: read.digests,
      service: service, logThreshold: threshold, logger: logger, read: reloading.read,
      print: faultPrinter(to: sink, logger))
    // It ends first, and so the node gives its lease away before it drains.
    let cluster: [any Service] =
      service.share.cluster.map { [ClusterLoop(node: $0, service: service)] } ?? []
    let services: [any Service] =
      companions + [
        service,
        ReloadService(
          hangups: hangups, reloader: reloader, service: service,
          watched: reloading.watchesFiles ? read.versions : nil),
      ] + cluster
    let ending = EndDeadline(drain: loaded.settings.drain)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: services.map { .init(service: $0) }
          + (recovery.map {
            [.init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)]
          } ?? [])
          + (watch.map {
            [.init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)]
          } ?? []) + [.init(service: ending)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    guard recovery != nil || watch != nil else {
      try await group.run()
      return false
    }
    let ends = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let noting = Task {
      for await _ in ends {
        recovery?.noteEnd()
        watch?.noteEnd()
      }
    }
    defer { noting.cancel() }
    try await group.run()
    return recovery?.startsOver == true || watch?.startsOver == true
  }

  /// Prints faults with their lines and carets, which a log line cannot show; in a JSON log as one value.
  private func faultPrinter(to sink: LineSink, _ logger: Logger) -> @Sendable (String) -> Void {
    guard loaded.settings.log.format == .text else {
      return { logger.error("faults", metadata: ["report": "\($0)"]) }
    }
    return { report in
      // Indented, so that no line of a file looks like one of the log.
      let lines = report.split(separator: "\n", omittingEmptySubsequences: false)
      sink.take(Array(lines.map { "  \($0)\n" }.joined().utf8))
    }
  }
}
