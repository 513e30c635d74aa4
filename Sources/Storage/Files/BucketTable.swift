import GRDB
import Model

/// The rows of buckets and the statements on them.
struct BucketTable {
  let database: Database

  func id(of name: BucketName) throws -> Int64? {
    let statement = try PreparedStatement(
      database, "SELECT id FROM file_bucket WHERE name = ?1")
    statement.bind(name.text, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  /// - Returns: false if a bucket with this name exists.
  func insert(_ name: BucketName, at moment: Timestamp) throws -> Bool {
    let statement = try PreparedStatement(
      database, "INSERT INTO file_bucket (name, created) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
    statement.bind(name.text, at: 1)
    statement.bind(moment.milliseconds, at: 2)
    try statement.run()
    return database.changesCount > 0
  }

  /// - Parameter name: the bucket; nil for all buckets, sorted by name.
  func describe(_ name: BucketName?) throws -> [BucketDescription] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT name, created, coalesce(bytes, 0), coalesce(objects, 0) FROM file_bucket \
      LEFT JOIN file_usage ON bucket = id AND owner = '' \
      WHERE ?1 IS NULL OR name = ?1 ORDER BY name
      """)
    statement.bind(name.map { Array($0.text.utf8) }, at: 1)
    defer { statement.reset() }
    var buckets: [BucketDescription] = []
    while try statement.step() {
      guard let name = BucketName(statement.string(0)) else { continue }
      buckets.append(
        BucketDescription(
          name: name, created: Timestamp(milliseconds: statement.int64(1)),
          bytes: Int(statement.int64(2)), objects: Int(statement.int64(3))))
    }
    return buckets
  }

  func settings(of id: Int64) throws -> BucketSettings {
    let statement = try PreparedStatement(
      database, "SELECT settings FROM file_bucket WHERE id = ?1")
    statement.bind(id, at: 1)
    defer { statement.reset() }
    return try statement.step()
      ? try BucketSettingsText.decode(statement.string(0)) : BucketSettings()
  }

  func set(_ settings: BucketSettings, of id: Int64) throws {
    let statement = try PreparedStatement(
      database, "UPDATE file_bucket SET settings = ?2 WHERE id = ?1")
    statement.bind(id, at: 1)
    statement.bind(BucketSettingsText.encode(settings), at: 2)
    try statement.run()
  }

  /// Removes an empty bucket together with its unfinished uploads, as S3 does.
  func remove(_ name: BucketName) throws -> BucketRemoval {
    guard let id = try id(of: name) else { return .noSuchBucket }
    guard try !holdsObjects(id) else { return .notEmpty }
    let uploads = UploadTable(database: database)
    var dead: [BlobName] = []
    for upload in try uploads.ids(bucket: id) {
      dead += try PartTable(database: database, upload: upload).list().map(\.blob)
      try uploads.remove(upload)
    }
    try DeadBlobTable(database: database).insert(dead)
    for sql in [
      "DELETE FROM file_completed_upload WHERE bucket = ?1",
      "DELETE FROM file_usage WHERE bucket = ?1", "DELETE FROM file_bucket WHERE id = ?1",
    ] {
      let statement = try PreparedStatement(database, sql)
      statement.bind(id, at: 1)
      try statement.run()
    }
    return .removed(dead: dead)
  }

  private func holdsObjects(_ id: Int64) throws -> Bool {
    let statement = try PreparedStatement(
      database, "SELECT 1 FROM file_object WHERE bucket = ?1 LIMIT 1")
    statement.bind(id, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }
}
