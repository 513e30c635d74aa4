import GRDB
import Model

extension Migrations {
  /// Drops what was got with forwarded headers that are credentials by their names: their scopes held
  /// the values in clear. The next reads fetch it again, under digests.
  static func secretScopes(_ db: Database) throws {
    let tables = try String.fetchAll(db, sql: "SELECT table_name FROM entity_type")
      .map(EntityTable.quoted)
    let others = ["private_row", "gone", "change", "past", "page", "invalidation", "result"]
    for row in try Row.fetchAll(db, sql: "SELECT id, division FROM scope WHERE division <> ''") {
      let (id, division) = (row["id"] as Int64, row["division"] as String)
      let names = division.split(separator: "\n").compactMap { line in
        line.firstIndex(of: ":").map { String(line[..<$0]) }
      }
      guard names.contains(where: CredentialName.matches) else { continue }
      for table in tables + others {
        try db.execute(sql: "DELETE FROM \(table) WHERE scope = ?", arguments: [id])
      }
      // The number stays, since numbers are never given twice.
      try db.execute(
        sql: "UPDATE scope SET division = ? WHERE id = ?", arguments: ["dropped \(id)", id])
    }
    // What has ended is sent no more.
    try db.execute(sql: "UPDATE mutation SET partitions = '{}' WHERE NOT is_held")
  }
}
