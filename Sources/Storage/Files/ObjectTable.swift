import GRDB
import Model

/// The rows of one bucket's objects and the statements on them.
struct ObjectTable {
  let database: Database
  let bucket: Int64

  /// The row that a write replaces.
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

  /// Writes an object; replaces one with the same key.
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

/// The rows of the parts that objects were assembled from, by the file that holds the object's content.
struct ObjectPartTable {
  let database: Database

  func insert(_ parts: [ObjectPart], of blob: BlobName) throws {
    for part in parts {
      let statement = try PreparedStatement(
        database,
        "INSERT INTO file_object_part (blob, number, size, checksum) VALUES (?1, ?2, ?3, ?4)")
      statement.bind(blob.text, at: 1)
      statement.bind(Int64(part.number), at: 2)
      statement.bind(Int64(part.size), at: 3)
      statement.bind(part.checksum.map { Array(ChecksumText.encode($0).utf8) }, at: 4)
      try statement.run()
    }
  }

  /// Copies the parts of an object to those of its copy.
  func copy(from source: BlobName, to blob: BlobName) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO file_object_part (blob, number, size, checksum) \
      SELECT ?2, number, size, checksum FROM file_object_part WHERE blob = ?1
      """)
    statement.bind(source.text, at: 1)
    statement.bind(blob.text, at: 2)
    try statement.run()
  }

  /// Returns the parts of an object by number.
  func list(of blob: BlobName) throws -> [ObjectPart] {
    let statement = try PreparedStatement(
      database,
      "SELECT number, size, checksum FROM file_object_part WHERE blob = ?1 ORDER BY number")
    statement.bind(blob.text, at: 1)
    defer { statement.reset() }
    var parts: [ObjectPart] = []
    while try statement.step() {
      parts.append(
        ObjectPart(
          number: Int(statement.int64(0)), size: Int(statement.int64(1)),
          checksum: statement.isNull(2) ? nil : ChecksumText.decode(statement.string(2))))
    }
    return parts
  }

  func remove(of blob: BlobName) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM file_object_part WHERE blob = ?1")
    statement.bind(blob.text, at: 1)
    try statement.run()
  }
}

/// The rows of dead files, which nothing refers to any more. A file is recorded in the transaction that
/// removes its last reference, until it is deleted.
struct DeadBlobTable {
  let database: Database

  func insert(_ blobs: [BlobName]) throws {
    for blob in blobs {
      let statement = try PreparedStatement(
        database, "INSERT INTO file_dead_blob (blob) VALUES (?1) ON CONFLICT DO NOTHING")
      statement.bind(blob.text, at: 1)
      try statement.run()
      try ObjectPartTable(database: database).remove(of: blob)
    }
  }

  func list(limit: Int) throws -> [BlobName] {
    let statement = try PreparedStatement(database, "SELECT blob FROM file_dead_blob LIMIT ?1")
    statement.bind(Int64(limit), at: 1)
    defer { statement.reset() }
    var blobs: [BlobName] = []
    while try statement.step() { blobs.append(BlobName(stored: statement.string(0))) }
    return blobs
  }

  func remove(_ blobs: [BlobName]) throws {
    for blob in blobs {
      let statement = try PreparedStatement(
        database, "DELETE FROM file_dead_blob WHERE blob = ?1")
      statement.bind(blob.text, at: 1)
      try statement.run()
    }
  }

  /// Returns those of the files that an object or a part refers to. Reads the whole index, so it is only for
  /// the rare case that a crash left unreferenced files.
  func referred(among blobs: [BlobName]) throws -> Set<BlobName> {
    let names = "[" + blobs.map { "\"\($0.text)\"" }.joined(separator: ",") + "]"
    var referred: Set<BlobName> = []
    for table in ["file_object", "file_part"] {
      let statement = try PreparedStatement(
        database, "SELECT blob FROM \(table) WHERE blob IN (SELECT value FROM json_each(?1))")
      statement.bind(names, at: 1)
      defer { statement.reset() }
      while try statement.step() { referred.insert(BlobName(stored: statement.string(0))) }
    }
    return referred
  }
}
