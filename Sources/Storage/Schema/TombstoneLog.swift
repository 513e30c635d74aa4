import GRDB

/// What was deleted or evicted, in the order in which it went, so that what is old enough to be
/// forgotten is found without a look at what is there.
///
/// An entry whose entity has changed since says nothing: the change row decides. A table of its
/// own and not an index over change rows of this kind, for the reason given at ``PrivateRows``.
enum TombstoneLog {
  static func add(
    _ key: String, scope: Int64, type: Int64, at revision: Int64, _ db: Database
  ) throws {
    let statement = try PreparedStatement(
      db, "INSERT OR IGNORE INTO gone (revision, scope, type, key) VALUES (?1, ?2, ?3, ?4)")
    statement.bind(revision, at: 1)
    statement.bind(scope, at: 2)
    statement.bind(type, at: 3)
    statement.bind(key, at: 4)
    try statement.run()
  }

  /// After many deletions of a type at one revision.
  static func addAll(ofType type: Int64, at revision: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT OR IGNORE INTO gone SELECT revision, scope, type, key FROM change \
        WHERE type = ? AND revision = ? AND kind <> 0
        """, arguments: [type, revision])
  }
}
