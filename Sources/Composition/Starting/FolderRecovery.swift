import Logging
import ServiceLifecycle
import Synchronization
import Transport

/// Waits until the read-only file system of a data folder takes writes, and ends the group's services
/// then, so that the process can start over on the folder itself.
final class FolderRecovery: Service {
  private static let pause = Duration.seconds(1)

  private let folder: String
  private let logger: Logger
  private let hasRecovered = Atomic(false)
  private let isToldToEnd = Atomic(false)

  init(folder: String, logger: Logger) {
    self.folder = folder
    self.logger = logger
  }

  /// Whether the program is to start over: this ended the group, and no signal did.
  var startsOver: Bool {
    hasRecovered.load(ordering: .acquiring) && !isToldToEnd.load(ordering: .acquiring)
  }

  /// Keeps the program from starting over. The group takes no more signals once it drains, and one
  /// that comes then must end the process all the same.
  func noteEnd() { isToldToEnd.store(true, ordering: .releasing) }

  func run() async {
    // Its cancellation is no error: one would end the other services at once, without draining.
    try? await cancelWhenGracefulShutdown { [self] in
      while FileSystem.isReadOnly(at: folder) { try await Task.sleep(for: Self.pause) }
      hasRecovered.store(true, ordering: .releasing)
      logger.notice(
        "the data folder takes writes again: the service starts over on it",
        metadata: ["folder": "\(folder)"])
    }
  }
}
