import Logging
import ServiceLifecycle
import Synchronization

/// Waits until the read-only file system of a data folder takes writes, and ends the group's services
/// then, so that the process can start over on the folder itself.
final class FolderRecovery: Service {
  private static let pause = Duration.seconds(1)

  private let folder: String
  private let logger: Logger
  private let hasRecovered = Atomic(false)

  init(folder: String, logger: Logger) {
    self.folder = folder
    self.logger = logger
  }

  /// Whether it was this that ended the group.
  var isDone: Bool { hasRecovered.load(ordering: .acquiring) }

  func run() async throws {
    try await cancelWhenGracefulShutdown { [self] in
      while ReadOnlyCopy.isNeeded(for: folder) { try await Task.sleep(for: Self.pause) }
      hasRecovered.store(true, ordering: .releasing)
      logger.notice(
        "the data folder takes writes again: the service starts over on it",
        metadata: ["folder": "\(folder)"])
    }
  }
}
