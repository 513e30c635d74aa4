import GRDB
import Model

/// The rows of one upload's parts and the statements on them.
struct PartTable {
  let database: Database
  let upload: String

  /// Writes a part in place of one of its number.
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

  /// Parts by number, of those above one.
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
