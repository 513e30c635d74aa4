import GRDB
import Model

/// The rows of one bucket's objects and the statements on them.
struct ObjectTable {
  let database: Database
  let bucket: Int64

  /// What a write replaces.
  struct Row {
    let state: ObjectState
    let size: Int64
    let owner: String
    let blob: BlobName
  }

  func find(_ key: ObjectKey) throws -> StoredObject? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT size, modified, tag, blob, checksum, attributes FROM file_object \
      WHERE bucket = ?1 AND key = ?2
      """)
    statement.bind(bucket, at: 1)
    statement.bind(key.text, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return StoredObject(
      metadata: ObjectMetadata(
        key: key, size: Int(statement.int64(0)),
        modified: Timestamp(milliseconds: statement.int64(1)), tag: statement.string(2),
        checksum: statement.isNull(4) ? nil : ChecksumText.decodeObject(statement.string(4)),
        attributes: try AttributesText.decode(statement.string(5))),
      blob: BlobName(stored: statement.string(3)))
  }

  func row(_ key: ObjectKey) throws -> Row? {
    let statement = try PreparedStatement(
      database,
      "SELECT tag, size, owner, blob, modified FROM file_object WHERE bucket = ?1 AND key = ?2")
    statement.bind(bucket, at: 1)
    statement.bind(key.text, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Row(
      state: ObjectState(
        tag: statement.string(0), modified: Timestamp(milliseconds: statement.int64(4))),
      size: statement.int64(1), owner: statement.string(2),
      blob: BlobName(stored: statement.string(3)))
  }

  /// Writes an object in place of one of its name.
  func put(_ object: StoredObject, owner: String) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO file_object \
      (bucket, key, size, modified, tag, owner, blob, checksum, attributes) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """)
    let metadata = object.metadata
    statement.bind(bucket, at: 1)
    statement.bind(metadata.key.text, at: 2)
    statement.bind(Int64(metadata.size), at: 3)
    statement.bind(metadata.modified.milliseconds, at: 4)
    statement.bind(metadata.tag, at: 5)
    statement.bind(owner, at: 6)
    statement.bind(object.blob.text, at: 7)
    statement.bind(metadata.checksum.map { Array(ChecksumText.encode($0).utf8) }, at: 8)
    statement.bind(AttributesText.encode(metadata.attributes), at: 9)
    try statement.run()
  }

  func set(_ attributes: ObjectAttributes, of key: ObjectKey) throws {
    let statement = try PreparedStatement(
      database, "UPDATE file_object SET attributes = ?3 WHERE bucket = ?1 AND key = ?2")
    statement.bind(bucket, at: 1)
    statement.bind(key.text, at: 2)
    statement.bind(AttributesText.encode(attributes), at: 3)
    try statement.run()
  }

  func remove(_ key: ObjectKey) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM file_object WHERE bucket = ?1 AND key = ?2")
    statement.bind(bucket, at: 1)
    statement.bind(key.text, at: 2)
    try statement.run()
  }
}
