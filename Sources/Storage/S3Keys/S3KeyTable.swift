import GRDB
import Model

/// The rows of access keys.
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
    // No bucket's name holds a blank.
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

  /// By age, the oldest first.
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

  /// - Returns: false where it is not there, or was revoked before.
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
