import GRDB
import Model

/// Moving a data folder's database into a cluster and out of it. No process may use the folder; all calls block.
extension Store {
  /// Makes a folder's database the beginning of a cluster, whose log has no rows yet, and copies it for the other
  /// nodes. It can have been in another cluster.
  ///
  /// The folder counts as a node's from then on. If a step fails, the database is in the cluster that it was in.
  ///
  /// - Parameters:
  ///   - cluster: the name that the cluster got when it was made.
  ///   - path: of a file that is made; its folder must exist. Nothing is left there after an error.
  package static func joinCluster(
    _ cluster: String, folder: String, copyingTo path: String
  ) throws(StorageError) {
    try moving(folder: folder) { queue in
      try Migrations.migrator.migrate(queue)
      let before = try queue.write { database in
        let before = try ClusterPosition.read(database)
        try ClusterPosition.remove(database)
        try ClusterPosition.begin(cluster, database)
        return before
      }
      do {
        let copy = try DatabaseQueue(path: path)
        defer { try? copy.close() }
        try queue.backup(to: copy)
      } catch {
        DatabaseFiles.remove(path)
        try queue.write { database in
          try ClusterPosition.remove(database)
          if let before { try ClusterPosition.restore(before, database) }
        }
        throw error
      }
    }
  }

  /// Makes a folder's database that of a single machine again.
  package static func leaveCluster(folder: String) throws(StorageError) {
    try moving(folder: folder) { queue in
      try Migrations.migrator.migrate(queue)
      try queue.write { try ClusterPosition.remove($0) }
    }
  }

  /// Notes that a folder's database has commits that its log does not have, so that the next opening as the leader
  /// tells followers to start again from a snapshot.
  package static func markDiverged(folder: String) throws(StorageError) {
    try moving(folder: folder) { queue in
      try queue.write { try ClusterPosition.noteDivergence($0) }
    }
  }

  private static func moving(
    folder: String, _ body: (DatabaseQueue) throws -> Void
  ) throws(StorageError) {
    let lock = try StoreFolderLock(path: folder)
    defer { lock.release() }
    do {
      let configuration = StoreConfiguration(
        folder: folder, segment: 0, opened: Timestamp(milliseconds: 0))
      let queue = try Connections(path: lock.databasePath, configuration).openWriter(WatchSlot())
      defer { try? queue.close() }
      if try queue.read({ try Migrations.migrator.hasBeenSuperseded($0) }) {
        throw StorageError.newerSchema(folder: folder)
      }
      try body(queue)
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }
}

extension ClusterPosition {
  static func remove(_ db: Database) throws {
    try db.execute(sql: "DELETE FROM cluster_position")
  }

  /// Puts back a position that was removed.
  static func restore(_ former: ClusterPosition, _ db: Database) throws {
    try begin(former.cluster, db)
    try set(former.position, epoch: former.epoch, term: former.term, db)
    if former.isDiverged { try noteDivergence(db) }
  }
}
