import GRDB

/// The first steps of opening a leader's database.
struct LeaderOpening {
  let cluster: String
  let epoch: Int64
  let log: any CommitLog
  let capture: ChangeCapture

  /// Migrates the database and notes which cluster it is in.
  ///
  /// - Returns: whether the database was changed in ways that no log row describes, so that replicas need a
  ///   snapshot. It counts as diverged until the next row is committed.
  func migrate(_ queue: DatabaseQueue, _ migrator: DatabaseMigrator) throws -> Bool {
    let (isCurrent, before) = try queue.write { db in
      let before = try ClusterPosition.read(db)
      let isCurrent = try migrator.hasCompletedMigrations(db)
      if !isCurrent, before != nil { try ClusterPosition.noteDivergence(db) }
      return (isCurrent, before)
    }
    try migrator.migrate(queue)
    if let before {
      guard before.cluster == cluster else {
        throw StorageError.diverged("the database is in another cluster")
      }
    } else {
      try queue.write { try ClusterPosition.begin(cluster, $0) }
    }
    return !isCurrent || before == nil || before?.isDiverged == true
  }

  func recorder(_ database: Database) throws -> TransactionRecorder {
    let position = try ClusterPosition.read(database)?.position ?? 0
    return try TransactionRecorder(
      capture, log: log, epoch: epoch, position: position, database)
  }
}
