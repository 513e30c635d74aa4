import GRDB

/// The number of the last submission that was moved to a queue, which every node learns with that commit.
///
/// It tells readers which submissions the store has. It does not decide what is moved: a submission that is
/// moved again is recognised by the idempotency keys of its mutations.
enum InboxMark {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE inbox_mark (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          number INTEGER NOT NULL
        );
        """)
  }

  /// Returns 0 before the first.
  static func number(_ db: Database) throws -> Int64 {
    let statement = try PreparedStatement(db, "SELECT number FROM inbox_mark WHERE id = 1")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  static func set(_ number: Int64, _ db: Database) throws {
    let statement = try PreparedStatement(
      db,
      """
      INSERT INTO inbox_mark (id, number) VALUES (1, ?1) \
      ON CONFLICT (id) DO UPDATE SET number = max(number, excluded.number)
      """)
    statement.bind(number, at: 1)
    try statement.run()
  }
}
