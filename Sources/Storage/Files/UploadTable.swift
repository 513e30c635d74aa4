import GRDB
import Model

/// The rows of multipart uploads and the statements on them.
struct UploadTable {
  let database: Database

  /// - Parameter number: the bucket's number.
  func insert(
    _ upload: UploadAddress, bucket number: Int64, attributes: ObjectAttributes,
    checksum: UploadChecksum?, owner: String, at moment: Timestamp
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO file_upload (id, bucket, key, owner, begun, attributes, checksum) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """)
    statement.bind(upload.id, at: 1)
    statement.bind(number, at: 2)
    statement.bind(upload.object.key.text, at: 3)
    statement.bind(owner, at: 4)
    statement.bind(moment.milliseconds, at: 5)
    statement.bind(AttributesText.encode(attributes), at: 6)
    statement.bind(checksum.map { Array(ChecksumText.encode($0).utf8) }, at: 7)
    try statement.run()
  }

  /// - Returns: the upload and its bucket's number; nil also for an upload of another object.
  func find(_ upload: UploadAddress) throws -> (upload: StoredUpload, bucket: Int64)? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT bucket, owner, begun, attributes, checksum FROM file_upload \
      JOIN file_bucket ON file_bucket.id = bucket \
      WHERE file_upload.id = ?1 AND name = ?2 AND key = ?3
      """)
    statement.bind(upload.id, at: 1)
    statement.bind(upload.object.bucket.text, at: 2)
    statement.bind(upload.object.key.text, at: 3)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (
      StoredUpload(
        attributes: try AttributesText.decode(statement.string(3)), owner: statement.string(1),
        begun: Timestamp(milliseconds: statement.int64(2)),
        checksum: statement.isNull(4) ? nil : ChecksumText.decodeUpload(statement.string(4))),
      statement.int64(0)
    )
  }

  /// Returns a bucket's uploads sorted by key, then by time, then by id.
  func list(
    bucket: Int64, name: BucketName, prefix: String, after marker: UploadAddress?, limit: Int
  ) throws -> [UploadDescription] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT key, id, begun FROM file_upload WHERE bucket = ?1 AND key >= ?2 \
      AND (key, begun, id) > (?3, coalesce((SELECT begun FROM file_upload WHERE id = ?4), ?5), ?4) \
      ORDER BY key, begun, id
      """)
    statement.bind(bucket, at: 1)
    statement.bind(prefix, at: 2)
    statement.bind(marker?.object.key.text ?? "", at: 3)
    statement.bind(marker?.id ?? "", at: 4)
    // A marker without an id means after all uploads of its key.
    statement.bind(marker?.id == "" ? Int64.max : -1, at: 5)
    defer { statement.reset() }
    var uploads: [UploadDescription] = []
    while uploads.count < limit, try statement.step() {
      guard let key = ObjectKey(statement.string(0)), key.hasPrefix(prefix) else { break }
      uploads.append(
        UploadDescription(
          address: UploadAddress(
            object: ObjectAddress(bucket: name, key: key), id: statement.string(1)),
          begun: Timestamp(milliseconds: statement.int64(2))))
    }
    return uploads
  }

  /// Returns the oldest uploads begun before a moment.
  func list(begunBefore moment: Timestamp, limit: Int) throws -> [UploadAddress] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT name, key, file_upload.id FROM file_upload \
      JOIN file_bucket ON file_bucket.id = bucket WHERE begun < ?1 ORDER BY begun LIMIT ?2
      """)
    statement.bind(moment.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    defer { statement.reset() }
    var uploads: [UploadAddress] = []
    while try statement.step() {
      guard let bucket = BucketName(statement.string(0)), let key = ObjectKey(statement.string(1))
      else { continue }
      uploads.append(
        UploadAddress(
          object: ObjectAddress(bucket: bucket, key: key), id: statement.string(2)))
    }
    return uploads
  }

  /// Returns the ids of all uploads of a bucket.
  func ids(bucket: Int64) throws -> [String] {
    let statement = try PreparedStatement(
      database, "SELECT id FROM file_upload WHERE bucket = ?1")
    statement.bind(bucket, at: 1)
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.string(0)) }
    return ids
  }

  func remove(_ id: String) throws {
    for sql in [
      "DELETE FROM file_part WHERE upload = ?1", "DELETE FROM file_upload WHERE id = ?1",
    ] {
      let statement = try PreparedStatement(database, sql)
      statement.bind(id, at: 1)
      try statement.run()
    }
  }
}

/// The rows of one upload's parts and the statements on them.
struct PartTable {
  let database: Database
  let upload: String

  /// Writes a part; replaces one with the same number.
  func put(_ stored: StoredPart) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO file_part (upload, number, size, tag, modified, blob, checksum) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """)
    statement.bind(upload, at: 1)
    statement.bind(Int64(stored.part.number), at: 2)
    statement.bind(Int64(stored.part.size), at: 3)
    statement.bind(stored.part.tag, at: 4)
    statement.bind(stored.part.modified.milliseconds, at: 5)
    statement.bind(stored.blob.text, at: 6)
    statement.bind(stored.part.checksum.map { Array(ChecksumText.encode($0).utf8) }, at: 7)
    try statement.run()
  }

  /// Returns the parts after a number, sorted by number.
  func list(after number: Int = 0, limit: Int = UploadPart.numbers.count) throws -> [StoredPart] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT number, size, tag, modified, blob, checksum FROM file_part \
      WHERE upload = ?1 AND number > ?2 ORDER BY number LIMIT ?3
      """)
    statement.bind(upload, at: 1)
    statement.bind(Int64(number), at: 2)
    statement.bind(Int64(limit), at: 3)
    defer { statement.reset() }
    var parts: [StoredPart] = []
    while try statement.step() {
      parts.append(
        StoredPart(
          part: UploadPart(
            number: Int(statement.int64(0)), size: Int(statement.int64(1)),
            tag: statement.string(2), modified: Timestamp(milliseconds: statement.int64(3)),
            checksum: statement.isNull(5) ? nil : ChecksumText.decode(statement.string(5))),
          blob: BlobName(stored: statement.string(4))))
    }
    return parts
  }
}

/// The rows of completed uploads. They let a client whose response was lost complete its upload again with
/// the same result.
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

  /// - Returns: the object as created by the upload, without its attributes; nil also for an upload of
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
