import FoundationEssentials
import Gateway
import Logging
package import ServiceLifecycle
import Synchronization
import Transport
import UnixSignals

/// Runs services until the process receives a shutdown signal.
package enum ServiceRun {
  package static func untilStopped(_ services: [any Service]) async throws {
    let logger = Logger(label: "larder") {
      LineLogHandler(label: $0, threshold: LogThreshold(.notice), isJSON: false) {
        StandardStreams.error($0)
      }
    }
    try await ServiceGroup(
      services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
    ).run()
  }

  package static func secondsSince1970() -> Int64 { Int64(Date().timeIntervalSince1970) }
}

/// A service for something that already runs: stops it at the group's shutdown.
package struct StoppableService: Service {
  private let stop: @Sendable () async -> Void

  package init(stop: @escaping @Sendable () async -> Void) {
    self.stop = stop
  }

  package func run() async throws {
    try? await gracefulShutdown()
    await stop()
  }
}

/// Ends the process when its services have exceeded their time after a shutdown signal, whatever a
/// disk, an upstream or a reader of its output still blocks.
///
/// It must be the last of a group's services, which is the first that is notified of the shutdown.
struct EndDeadline: Service {
  /// Time after the last connection for the queue's attempts, the log and the database.
  private static let closingMax = Duration.seconds(2)
  /// EX_SOFTWARE
  private static let forcedStatus: Int32 = 70

  let drain: DrainSettings

  /// The time that the queue's attempts have from the shutdown signal: a second less than the process,
  /// which is left for the log and the database.
  static func queueMax(_ drain: DrainSettings) -> Duration {
    drain.delay + drain.deadline + closingMax - .seconds(1)
  }

  func run() async throws {
    try? await gracefulShutdown()
    ProcessEnd.force(
      after: drain.delay + drain.deadline + Self.closingMax, status: Self.forcedStatus,
      warning: Array(
        "larder: the service did not stop in time and was terminated; no stored data is lost\n".utf8
      ))
  }
}

/// Waits until the read-only file system of a data folder is writable, and then ends the group's
/// services, so that the process can restart on the folder itself.
final class FolderRecovery: Service {
  private static let pause = Duration.seconds(1)

  private let folder: String
  private let logger: Logger
  private let hasRecovered = Atomic(false)
  private let hasEndSignal = Atomic(false)

  init(folder: String, logger: Logger) {
    self.folder = folder
    self.logger = logger
  }

  /// Whether the program must restart: this service ended the group, and no signal did.
  var startsOver: Bool {
    hasRecovered.load(ordering: .acquiring) && !hasEndSignal.load(ordering: .acquiring)
  }

  /// Keeps the program from restarting. The group handles no signals once it drains, but one that
  /// arrives then must still end the process.
  func noteEnd() { hasEndSignal.store(true, ordering: .releasing) }

  func run() async {
    // Cancellation must not throw: an error would end the other services without draining.
    try? await cancelWhenGracefulShutdown { [self] in
      while FileSystem.isReadOnly(at: folder) { try await Task.sleep(for: Self.pause) }
      hasRecovered.store(true, ordering: .releasing)
      logger.notice(
        "the data folder is writable again: the service restarts on it",
        metadata: ["folder": "\(folder)"])
    }
  }
}
