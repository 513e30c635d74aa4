import GRDB

/// The row that says up to which row of which cluster's log the database was written.
package struct ClusterPosition: Hashable, Sendable {
  /// The name that the cluster got when it was made; random.
  package let cluster: String
  /// The last row of the log that is applied.
  package let position: Int64
  /// Whether migrations have changed the database, and no row of the log says so: it is not to be used, unless
  /// as the leader's.
  package let isDiverged: Bool

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE cluster_position (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          cluster TEXT NOT NULL,
          position INTEGER NOT NULL,
          is_diverged INTEGER NOT NULL
        );
        """)
  }

  /// Returns nil for a database that is in no cluster.
  static func read(_ db: Database) throws -> ClusterPosition? {
    guard try db.tableExists("cluster_position"),
      let row = try Row.fetchOne(
        db, sql: "SELECT cluster, position, is_diverged FROM cluster_position WHERE id = 1")
    else { return nil }
    return ClusterPosition(
      cluster: row["cluster"], position: row["position"], isDiverged: row["is_diverged"])
  }

  static func begin(_ cluster: String, _ db: Database) throws {
    try db.execute(
      sql: "INSERT INTO cluster_position (id, cluster, position, is_diverged) VALUES (1, ?, 0, 0)",
      arguments: [cluster])
  }

  static func set(_ position: Int64, _ db: Database) throws {
    let statement = try PreparedStatement(
      db, "UPDATE cluster_position SET position = ?1, is_diverged = 0 WHERE id = 1")
    statement.bind(position, at: 1)
    try statement.run()
  }

  static func noteDivergence(_ db: Database) throws {
    try db.execute(sql: "UPDATE cluster_position SET is_diverged = 1 WHERE id = 1")
  }
}
