import Cluster
import FoundationEssentials
import Logging
import Model
import Storage
import Synchronization
import Transport

/// Writes snapshots, from which new nodes start, and removes the log before them.
final class SnapshotUpkeep: Sendable {
  /// How often it is looked whether a snapshot is due.
  private static let lookInterval = Duration.seconds(5)
  /// Pause after a snapshot that failed.
  private static let pauseAfterFailure = Duration.seconds(30)

  private let next = Mutex(ContinuousClock.now)

  /// Writes a snapshot if there is none, if the last one is older than the settings say, or if the log has become
  /// too long. Only a leader calls it.
  func runIfDue(_ node: ClusterNode) async throws(ClusterError) {
    let isTime = next.withLock { next in
      guard .now >= next else { return false }
      next = .now + Self.lookInterval
      return true
    }
    guard isTime, let store = node.opened?.store, node.lease != nil else { return }
    let latest = try await node.backend.latestSnapshot()
    guard isDue(latest, node, store) else { return }
    let file = "\(node.folder.path)/larder.snapshot.new"
    let start = ContinuousClock.now
    do {
      try? FileManager.default.removeItem(atPath: file)
      let position = try await store.writeSnapshot(to: file)
      let made = try await node.backend.putSnapshot(
        position: position, file: file, version: Version.text)
      node.noteSnapshot()
      try await node.backend.trim(upTo: min(position, try await slowest(node, position)))
      node.logger.info(
        "snapshot written",
        metadata: [
          "position": "\(position)", "bytes": "\(made.byteCount)",
          "time": "\((ContinuousClock.now - start).milliseconds)ms",
        ])
    } catch {
      node.logger.error("no snapshot could be written", metadata: ["cause": "\(error)"])
      next.withLock { $0 = .now + Self.pauseAfterFailure }
    }
    try? FileManager.default.removeItem(atPath: file)
  }

  private func isDue(_ latest: SnapshotInfo?, _ node: ClusterNode, _ store: Store) -> Bool {
    guard let latest else { return true }
    if latest.position < store.resetPosition { return true }
    guard latest.position < store.position else { return false }
    let age = latest.made.distance(to: SystemClock.wall.now())
    return age > node.settings.snapshots.interval
      || node.bytesAppended > node.settings.snapshots.logBytesMax
  }

  /// The position of the live node that is furthest behind.
  private func slowest(_ node: ClusterNode, _ position: Int64) async throws(ClusterError) -> Int64 {
    try await node.backend.nodes().filter(\.isLive).map(\.position).min() ?? position
  }
}
