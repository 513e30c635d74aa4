import Cluster
import Logging
import Standby

/// Fetches a snapshot into a data folder that is not open.
struct SnapshotFetch {
  let standby: StandbyStore
  let folder: DataFolder
  let logger: Logger

  /// - Parameter aside: see ``DatabasePlacing/place(keepingAhead:)``.
  func run(_ entry: SnapshotIndex.Entry, aside: Int64?) async throws {
    let placing = DatabasePlacing(folder: folder.path, logger: logger)
    placing.noteFetching(position: entry.position, byteCount: entry.byteCount)
    try await fetch(entry, to: placing.file)
    try placing.place(keepingAhead: aside)
  }

  /// Writes a snapshot to a file. An existing one is replaced.
  func fetch(_ entry: SnapshotIndex.Entry, to path: String) async throws {
    let writer: SnapshotWriter
    do throws(ClusterError) { writer = try SnapshotWriter(path) } catch {
      throw StartFailure(.dataFolder, "\(error).")
    }
    do {
      try await SnapshotTransfer(standby).get(entry) { bytes throws(StandbyError) in
        do throws(ClusterError) { try writer.append(bytes) } catch {
          throw .unavailable("\(error)")
        }
      }
      try writer.finish(
        SnapshotInfo(
          id: entry.epoch, position: entry.position, byteCount: entry.byteCount,
          sha256: entry.sha256, made: entry.made, version: entry.version))
    } catch {
      writer.discard()
      throw error
    }
  }
}
