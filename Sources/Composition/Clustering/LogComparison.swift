import Cluster
import Logging
import Storage

/// Compares a node's database with the log: PostgreSQL can have lost the log's end, by a restore or by the promotion
/// of an asynchronous standby, and other rows can have got the same positions since.
enum LogComparison: Equatable {
  /// The log goes on where the database ends. A row that was trimmed is not compared.
  case fits
  /// The database has changes of migrations that no row describes.
  case hasDiverged
  /// The rows after the database's end were trimmed.
  case tooOld
  /// The database has rows that the log has lost.
  case ahead
  /// The log has another row at the position of the database.
  case otherRow

  /// - Parameter own: the place of the database.
  static func of(
    _ own: ClusterPosition, _ backend: any ClusterBackend, _ head: LogHead
  ) async throws(ClusterError) -> LogComparison {
    if own.isDiverged { return .hasDiverged }
    if own.position > head.position { return .ahead }
    if own.position < head.floor { return .tooOld }
    guard own.position > head.floor else { return .fits }
    let row: LogRow?
    do throws(ClusterError) {
      row = try await backend.rows(after: own.position - 1, bytesMax: 1).first
    } catch {
      // It was trimmed meanwhile.
      if case .faulty = error { return .fits }
      throw error
    }
    guard let row else { return .ahead }
    return own.agrees(with: ReplicatedRow(row)) ? .fits : .otherRow
  }

  /// Whether the database has rows that were acknowledged and that the log does not have.
  var losesRows: Bool { self == .ahead || self == .otherRow }

  /// Logs why the database is not used any more.
  func note(_ own: ClusterPosition, _ head: LogHead, in logger: Logger) {
    let metadata: Logger.Metadata = [
      "position": "\(own.position)", "epoch": "\(own.epoch)",
      "log": "\(head.floor) to \(head.position)", "logEpoch": "\(head.epoch)",
    ]
    switch self {
    case .fits: break
    case .hasDiverged, .tooOld:
      logger.warning(
        "the database does not go on where the log does, and needs a snapshot", metadata: metadata)
    case .ahead, .otherRow:
      logger.error(
        """
        the database has rows that the cluster's log in PostgreSQL has lost, as after a restore or the promotion \
        of an asynchronous standby: it needs a snapshot, and what only those rows had is lost
        """, metadata: metadata)
    }
  }

  /// Logs what an operator must do where no snapshot fits.
  static func noteNoSnapshot(in logger: Logger) {
    logger.error(
      """
      the cluster has no snapshot that the log goes on from: the node waits until a leader writes one. If no node \
      leads, see "PostgreSQL was promoted" in docs/cluster.md
      """)
  }
}

extension ReplicatedRow {
  init(_ row: LogRow) {
    self.init(position: row.position, epoch: row.epoch, payload: row.payload)
  }
}

extension ClusterBackend {
  /// Returns the latest snapshot if the log goes on from it.
  func fittingSnapshot(_ head: LogHead) async throws(ClusterError) -> SnapshotInfo? {
    guard let snapshot = try await latestSnapshot(), snapshot.position <= head.position,
      snapshot.position >= head.floor
    else { return nil }
    return snapshot
  }
}
