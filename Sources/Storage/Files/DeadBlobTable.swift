import GRDB

/// Files that nothing refers to any more, noted in the transaction that made them so, until they
/// are removed.
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

  /// Those of the names that an object or a part has. Reads the whole index, so it is for the rare
  /// case that a crash left files behind.
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
