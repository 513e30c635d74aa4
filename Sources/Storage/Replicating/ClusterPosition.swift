import GRDB

/// The row that says up to which row of which cluster's log the database was written.
///
/// PostgreSQL can lose the end of the log, by a restore or the promotion of an asynchronous standby, and other rows
/// can then get the same positions. The epoch, or the term if the lease was lost as well, tells them apart.
package struct ClusterPosition: Hashable, Sendable {
  /// The name that the cluster got when it was made; random.
  package let cluster: String
  /// The last row of the log that is applied.
  package let position: Int64
  /// The epoch of the lease under which that row was written; 0 before the first.
  package let epoch: Int64
  /// Random, of the opening of the leader's store that wrote that row; 0 before the first.
  package let term: Int64
  /// Whether migrations have changed the database, and no row of the log says so: it is not to be used, unless
  /// as the leader's.
  package let isDiverged: Bool

  static let table = "cluster_position"

  /// Whether the last row that was applied is this one of the log. A row that cannot be decoded is compared by its
  /// epoch alone.
  package func agrees(with row: ReplicatedRow) -> Bool {
    guard row.position == position, row.epoch == epoch else { return false }
    guard let payload = try? LogPayload(row.payload), let term = payload.term else { return true }
    return term == self.term
  }

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE cluster_position (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          cluster TEXT NOT NULL,
          position INTEGER NOT NULL,
          epoch INTEGER NOT NULL,
          term INTEGER NOT NULL,
          is_diverged INTEGER NOT NULL
        );
        """)
  }

  /// Returns nil for a database that is in no cluster.
  static func read(_ db: Database) throws -> ClusterPosition? {
    guard try db.tableExists(table),
      let row = try Row.fetchOne(
        db,
        sql: "SELECT cluster, position, epoch, term, is_diverged FROM cluster_position WHERE id = 1"
      )
    else { return nil }
    return ClusterPosition(
      cluster: row["cluster"], position: row["position"], epoch: row["epoch"], term: row["term"],
      isDiverged: row["is_diverged"])
  }

  static func begin(_ cluster: String, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO cluster_position (id, cluster, position, epoch, term, is_diverged)
        VALUES (1, ?, 0, 0, 0, 0)
        """,
      arguments: [cluster])
  }

  static func set(_ position: Int64, epoch: Int64, term: Int64, _ db: Database) throws {
    let statement = try PreparedStatement(
      db,
      """
      UPDATE cluster_position SET position = ?1, epoch = ?2, term = ?3, is_diverged = 0 WHERE id = 1
      """)
    statement.bind(position, at: 1)
    statement.bind(epoch, at: 2)
    statement.bind(term, at: 3)
    try statement.run()
  }

  static func noteDivergence(_ db: Database) throws {
    try db.execute(sql: "UPDATE cluster_position SET is_diverged = 1 WHERE id = 1")
  }
}

extension LogPayload {
  /// See ``ClusterPosition/term``: each row has the image of the position's row.
  fileprivate var term: Int64? {
    guard let table = tables.first(where: { $0.name == ClusterPosition.table }),
      let index = table.columns.firstIndex(of: "term"), let row = table.there.first,
      row.count >= table.columns.count,
      // The row number comes first.
      case .integer(let term) = row[row.count - table.columns.count + index]
    else { return nil }
    return term
  }
}
