import GRDB
import Model

/// The rows of local fields by owner: a copy of their texts, which a page of entities reads with one look-up
/// each, and a list of the owners who have written some to an entity.
///
/// Apart from ``PrivateRows``: what happens to copies of upstream's data, deletions and marks by webhooks
/// among it, never happens to these rows.
enum LocalFieldRows {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE local_field_row (
          scope INTEGER NOT NULL,
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          fields TEXT NOT NULL,
          PRIMARY KEY (scope, type, key)
        ) WITHOUT ROWID;
        CREATE INDEX local_field_row_by_entity ON local_field_row (type, key);
        """)
    try UsageSchema.countLocalFields(db)
  }

  /// Adds a row, or replaces it.
  static func set(
    _ key: String, scope: Int64, type: Int64, fields: [UInt8], _ db: Database
  ) throws {
    let statement = try PreparedStatement(
      db,
      """
      INSERT INTO local_field_row (scope, type, key, fields) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT (scope, type, key) DO UPDATE SET fields = excluded.fields
      """)
    statement.bind(scope, at: 1)
    statement.bind(type, at: 2)
    statement.bind(key, at: 3)
    statement.bind(fields, at: 4)
    try statement.run()
  }

  /// Reads the rows that one owner has of the entities of a type.
  struct Reader {
    private let statement: PreparedStatement

    init(scope: Int64, type: Int64, _ db: Database) throws {
      statement = try PreparedStatement(
        db, "SELECT fields FROM local_field_row WHERE scope = ?1 AND type = ?2 AND key = ?3")
      statement.bind(scope, at: 1)
      statement.bind(type, at: 2)
    }

    /// Returns the text of an entity's row; nil if there is none.
    func text(of key: String) throws -> [UInt8]? {
      statement.bind(key, at: 3)
      defer { statement.reset() }
      return try statement.step() ? statement.bytes(0) : nil
    }
  }

  /// Returns the scopes that have local fields of an entity.
  static func scopes(holding key: String, type: Int64, _ db: Database) throws -> [Int64] {
    let statement = try PreparedStatement(
      db, "SELECT scope FROM local_field_row WHERE type = ?1 AND key = ?2 ORDER BY scope")
    statement.bind(type, at: 1)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    var scopes: [Int64] = []
    while try statement.step() { scopes.append(statement.int64(0)) }
    return scopes
  }

  static func exist(of key: String, type: Int64, _ db: Database) throws -> Bool {
    let statement = try PreparedStatement(
      db, "SELECT 1 FROM local_field_row WHERE type = ?1 AND key = ?2 LIMIT 1")
    statement.bind(type, at: 1)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }

  /// The types with local fields of any owner.
  static func types(_ db: Database) throws -> Set<Int64> {
    try Int64.fetchSet(db, sql: "SELECT DISTINCT type FROM local_field_row")
  }

  /// Forgets the rows that all owners have of an entity.
  static func removeAll(of key: String, type: Int64, _ db: Database) throws {
    let statement = try PreparedStatement(
      db, "DELETE FROM local_field_row WHERE type = ?1 AND key = ?2")
    statement.bind(type, at: 1)
    statement.bind(key, at: 2)
    try statement.run()
  }
}
