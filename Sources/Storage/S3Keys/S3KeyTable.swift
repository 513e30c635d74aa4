import GRDB
import Model

/// The table of the access keys that S3 clients sign with. Operators' SQL statements cannot read the column
/// of the secret, because of its name.
enum S3KeySchema {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE s3_key (
          id TEXT PRIMARY KEY,
          secret_sealed TEXT NOT NULL,
          owner TEXT,
          buckets TEXT,
          is_read_only INTEGER NOT NULL,
          created INTEGER NOT NULL,
          revoked INTEGER
        ) WITHOUT ROWID;
        """)
  }
}

/// The rows of S3 access keys.
struct S3KeyTable {
  private static let columns =
    "id, secret_sealed, owner, buckets, is_read_only, created, revoked"

  let database: Database

  func insert(_ key: StoredS3Key) throws {
    let statement = try PreparedStatement(
      database, "INSERT INTO s3_key (\(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
    statement.bind(key.id, at: 1)
    statement.bind(Base64URL.encode(key.sealedSecret), at: 2)
    statement.bind(key.user.map { Array($0.utf8) }, at: 3)
    // Bucket names contain no spaces.
    let buckets = key.buckets?.map(\.text).joined(separator: " ")
    statement.bind(buckets.map { Array($0.utf8) }, at: 4)
    statement.bind(key.isReadOnly ? 1 : 0 as Int64, at: 5)
    statement.bind(key.created.milliseconds, at: 6)
    statement.bind(key.revoked?.milliseconds, at: 7)
    try statement.run()
  }

  func find(_ id: String) throws -> StoredS3Key? {
    let statement = try PreparedStatement(
      database, "SELECT \(Self.columns) FROM s3_key WHERE id = ?1")
    statement.bind(id, at: 1)
    defer { statement.reset() }
    return try statement.step() ? Self.key(statement) : nil
  }

  /// Returns all keys, oldest first.
  func all(limit: Int) throws -> [StoredS3Key] {
    let statement = try PreparedStatement(
      database, "SELECT \(Self.columns) FROM s3_key ORDER BY created, id LIMIT ?1")
    statement.bind(Int64(limit), at: 1)
    defer { statement.reset() }
    var keys: [StoredS3Key] = []
    while try statement.step() { keys.append(Self.key(statement)) }
    return keys
  }

  func count() throws -> Int {
    let statement = try PreparedStatement(database, "SELECT count(*) FROM s3_key")
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// - Returns: false if the key does not exist or was already revoked.
  func revoke(_ id: String, at moment: Timestamp) throws -> Bool {
    let statement = try PreparedStatement(
      database, "UPDATE s3_key SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL")
    statement.bind(id, at: 1)
    statement.bind(moment.milliseconds, at: 2)
    try statement.run()
    return database.changesCount > 0
  }

  private static func key(_ statement: PreparedStatement) -> StoredS3Key {
    let buckets = statement.isNull(3) ? nil : statement.string(3)
    return StoredS3Key(
      id: statement.string(0),
      sealedSecret: Base64URL.decode(statement.string(1)) ?? [],
      user: statement.isNull(2) ? nil : statement.string(2),
      buckets: buckets?.split(separator: " ").compactMap { BucketName(String($0)) },
      isReadOnly: statement.int64(4) != 0,
      created: Timestamp(milliseconds: statement.int64(5)),
      revoked: statement.optionalInt64(6).map { Timestamp(milliseconds: $0) })
  }
}
