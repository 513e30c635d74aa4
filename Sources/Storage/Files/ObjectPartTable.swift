import GRDB
import Model

/// The parts that objects were put together from, by the file that holds the object's content.
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

  /// Gives a copy of an object the parts of its source.
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

  /// By number.
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
