import ServiceLifecycle
import Transport

/// Ends the process in any case: when it was told to end, and its services have had their time,
/// whatever a disk, an upstream or a reader of its output still keeps waiting.
///
/// The last of a group's services: it is the first that learns of the shutdown.
struct EndDeadline: Service {
  /// After the last connection, for the queue's attempts, the log and the database.
  private static let closingMax = Duration.seconds(2)
  /// EX_SOFTWARE
  private static let forcedStatus: Int32 = 70

  let drain: DrainSettings

  /// What the queue's attempts have from the moment that the process was told to end: a second less
  /// than the process, for the log and the database.
  static func queueMax(_ drain: DrainSettings) -> Duration {
    drain.delay + drain.deadline + closingMax - .seconds(1)
  }

  func run() async throws {
    try? await gracefulShutdown()
    ProcessEnd.force(
      after: drain.delay + drain.deadline + Self.closingMax, status: Self.forcedStatus,
      warning: Array(
        "larder: the service did not end in time and was stopped; nothing stored is lost\n".utf8))
  }
}
