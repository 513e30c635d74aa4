import FoundationEssentials
import Logging
import Model
import Standby
import Storage
import Transport

/// A data folder that follows the log of a primary: applies segments, and starts again from a snapshot where that is
/// needed.
///
/// The database is open as that of a replica which no one reads, so it can be of an older version than the program.
final class LogFollower {
  /// Looks at the log's end between two looks at the index: what a follower needs can have been removed.
  private static let looksPerIndex = 30

  /// What one step has found.
  enum Step: Equatable {
    case applied
    /// There is nothing more to apply.
    case atEnd
    /// The next commits are only in a snapshot, which the store does not have yet.
    case needsSnapshot
  }

  private let standby: StandbyStore
  private let folder: DataFolder
  private let logger: Logger
  private let store: Store
  /// The number of the last segment that is applied.
  private(set) var segment: Int64
  /// The time of the last commit that is applied, as far as known.
  private(set) var lastAt = Timestamp(milliseconds: 0)
  /// Whether there are commits after the limit of ``step(upTo:)``.
  private(set) var hasReachedLimit = false
  private var looks = 0

  /// Opens the database of a folder.
  ///
  /// - Parameter segment: after which the log goes on where the database ends.
  init(
    _ standby: StandbyStore, folder: DataFolder, after segment: Int64, logger: Logger
  ) throws(StartFailure) {
    self.standby = standby
    self.folder = folder
    self.segment = segment
    self.logger = logger
    var configuration = StoreConfiguration(
      folder: folder.path, segment: 1, opened: SystemClock.wall.now())
    configuration.role = .replay
    do throws(StorageError) {
      store = try Store.open(configuration, types: [])
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
    }
  }

  var position: Int64 { store.position }

  func close() { store.close() }

  /// Applies the next segment, if there is one.
  ///
  /// - Parameter limit: commits after this time are not applied; nil for all.
  func step(upTo limit: Timestamp? = nil) async throws -> Step {
    guard let next = try await standby.segment(segment + 1) else {
      looks += 1
      if looks % Self.looksPerIndex == 0, try await standby.index().index.floor > segment {
        return .needsSnapshot
      }
      return .atEnd
    }
    guard try await apply(next, upTo: limit) else { return .needsSnapshot }
    segment = next.number
    return .applied
  }

  /// - Returns: false if only a snapshot has the commits.
  private func apply(_ segment: LogSegment, upTo limit: Timestamp?) async throws -> Bool {
    var commits = segment.commits(after: store.position)
    if let limit, let end = commits.firstIndex(where: { $0.commit.at > limit }) {
      hasReachedLimit = true
      commits.removeSubrange(end...)
    }
    guard let first = commits.first else { return true }
    guard first.position == store.position + 1 else { return false }
    let rows = commits.map {
      ReplicatedRow(position: $0.position, epoch: segment.epoch, payload: $0.commit.payload)
    }
    do throws(StorageError) {
      _ = try await store.apply(rows)
    } catch {
      guard case .diverged = error else { throw error }
      return try await applyEach(rows, commits.map(\.commit.at))
    }
    lastAt = commits.last?.commit.at ?? lastAt
    return true
  }

  /// Applies commits up to one that only a snapshot replaces.
  private func applyEach(_ rows: [ReplicatedRow], _ times: [Timestamp]) async throws -> Bool {
    for (row, time) in zip(rows, times) {
      do throws(StorageError) {
        _ = try await store.apply([row])
        lastAt = time
      } catch {
        guard case .diverged(let reason) = error else { throw error }
        logger.debug(
          "the log goes on from a snapshot",
          metadata: ["position": "\(row.position)", "reason": "\(reason)"])
        return false
      }
    }
    return true
  }
}

/// Finds where a folder's database is in the log.
struct FolderPlace {
  enum Finding: Equatable {
    /// The log goes on after a segment.
    case fits(segment: Int64)
    /// The database has commits that the log does not have, or other ones.
    case ahead
    /// The log does not go back to it.
    case tooOld
  }

  let standby: StandbyStore

  /// - Parameters:
  ///   - own: the place of the database.
  ///   - last: the last segment of the log; nil if it has none.
  func find(
    _ own: ClusterPosition, _ index: SnapshotIndex, last: LogSegment?
  ) async throws(StandbyError) -> Finding {
    if own.isDiverged { return .ahead }
    if let entry = index.entries.last(where: {
      $0.position == own.position && $0.epoch == own.epoch
    }) {
      return .fits(segment: entry.segment)
    }
    guard let last else { return .tooOld }
    guard
      let segment = try await LogSearch(standby).first(
        reaching: own.position, after: index.floor, upTo: last)
    else { return .ahead }
    guard own.position >= segment.first else { return .tooOld }
    let commit = segment.commits[Int(own.position - segment.first)]
    let row = ReplicatedRow(
      position: own.position, epoch: segment.epoch, payload: commit.payload)
    // The rest of the segment comes after it.
    return own.agrees(with: row) ? .fits(segment: segment.number - 1) : .ahead
  }
}
