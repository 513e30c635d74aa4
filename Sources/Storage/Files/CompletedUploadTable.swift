import GRDB
import Model

/// The uploads that were completed, so that a client whose response was lost can complete its upload
/// again and gets the same result.
struct CompletedUploadTable {
  let database: Database

  func insert(
    _ upload: UploadAddress, bucket: Int64, as metadata: ObjectMetadata, at now: Timestamp
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO file_completed_upload \
      (id, bucket, key, size, modified, tag, checksum, completed) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """)
    statement.bind(upload.id, at: 1)
    statement.bind(bucket, at: 2)
    statement.bind(upload.object.key.text, at: 3)
    statement.bind(Int64(metadata.size), at: 4)
    statement.bind(metadata.modified.milliseconds, at: 5)
    statement.bind(metadata.tag, at: 6)
    statement.bind(metadata.checksum.map { Array(ChecksumText.encode($0).utf8) }, at: 7)
    statement.bind(now.milliseconds, at: 8)
    try statement.run()
  }

  /// - Returns: the object as it was made then, without its attributes; nil also for an upload of
  ///   another object.
  func find(_ upload: UploadAddress) throws -> ObjectMetadata? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT size, modified, tag, checksum FROM file_completed_upload AS completed \
      JOIN file_bucket ON file_bucket.id = bucket \
      WHERE completed.id = ?1 AND name = ?2 AND key = ?3
      """)
    statement.bind(upload.id, at: 1)
    statement.bind(upload.object.bucket.text, at: 2)
    statement.bind(upload.object.key.text, at: 3)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return ObjectMetadata(
      key: upload.object.key, size: Int(statement.int64(0)),
      modified: Timestamp(milliseconds: statement.int64(1)), tag: statement.string(2),
      checksum: statement.isNull(3) ? nil : ChecksumText.decodeObject(statement.string(3)))
  }

  func remove(completedBefore moment: Timestamp) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM file_completed_upload WHERE completed < ?1")
    statement.bind(moment.milliseconds, at: 1)
    try statement.run()
  }
}
