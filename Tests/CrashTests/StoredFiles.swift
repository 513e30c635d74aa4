import Foundation
import GRDB

/// A copy of the database files as a crash left them, opened with SQLite directly: the service's own files
/// stay untouched.
struct StoredFiles {
  private let copy: String

  init(of folder: ServiceFolder) throws {
    copy = "\(folder.path)/copy-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    for suffix in ["", "-wal"]
    where FileManager.default.fileExists(atPath: folder.databasePath + suffix) {
      try FileManager.default.copyItem(
        atPath: folder.databasePath + suffix, toPath: "\(copy)/larder.sqlite\(suffix)")
    }
  }

  /// All faults of the files, as texts; empty for a sound store.
  func faults() throws -> [String] {
    try read { database in
      var faults = try String.fetchAll(database, sql: "PRAGMA integrity_check")
        .filter { $0 != "ok" }
      // Killed during its creation: it is still empty.
      guard try database.tableExists("counter") else { return faults }
      faults += try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").map { "\($0)" }
      faults += try Self.resultFaults(database)
      faults += try Self.usageFaults(database)
      for row in try Row.fetchAll(database, sql: "SELECT id, table_name FROM entity_type") {
        faults += try Self.entityFaults(database, type: row["id"], table: row["table_name"])
      }
      return faults
    }
  }

  /// Reads the copy once; it is deleted afterwards.
  func read<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let queue = try DatabaseQueue(path: "\(copy)/larder.sqlite")
    defer { try? queue.close() }
    return try queue.read(body)
  }

  private static func resultFaults(_ database: Database) throws -> [String] {
    let checks = [
      "results that are no JSON": "SELECT count(*) FROM result WHERE NOT json_valid(fields)",
      "results newer than the call counter":
        "SELECT count(*) FROM result WHERE call > (SELECT call FROM counter)",
      "changes newer than the revision counter":
        "SELECT count(*) FROM change WHERE revision > (SELECT revision FROM counter)",
      "results without dependencies": """
      SELECT count(*) FROM result
      WHERE operation IN ('Film', 'Studios') AND json_array_length(dependencies) = 0
      """,
    ]
    return try found(checks, database)
  }

  private static func entityFaults(
    _ database: Database, type: Int64, table: String
  ) throws -> [String] {
    let checks = [
      "rows of \(table) that are no JSON":
        "SELECT count(*) FROM \"\(table)\" WHERE fields IS NOT NULL AND NOT json_valid(fields)",
      "rows of \(table) newer than the revision counter":
        "SELECT count(*) FROM \"\(table)\" WHERE revision > (SELECT revision FROM counter)",
      "rows of \(table) that the change log tells otherwise": """
      SELECT count(*) FROM "\(table)" AS stored LEFT JOIN change
      ON change.scope = stored.scope AND change.type = \(type) AND change.key = stored.key
      WHERE change.revision IS NULL OR change.revision <> stored.revision
      """,
      "half-written changes in \(table)": table == "entity_Film"
        ? """
        SELECT count(*) FROM "entity_Film" WHERE fields ->> 'synopsis' LIKE 'mark %'
        AND fields ->> 'synopsis' IS NOT fields ->> 'tagline'
        """ : "SELECT 0",
    ]
    return try found(checks, database)
  }

  private static func found(_ checks: [String: String], _ database: Database) throws -> [String] {
    try checks.compactMap { name, sql in
      let count = try Int.fetchOne(database, sql: sql) ?? 0
      return count == 0 ? nil : "\(count) \(name)"
    }
  }
}

/// The files of objects according to the index.
extension StoredFiles {
  /// The files that objects and parts refer to, and those recorded as dead.
  func blobs() throws -> (referred: Set<String>, dead: Set<String>) {
    try read { database in
      (
        try String.fetchSet(
          database, sql: "SELECT blob FROM file_object UNION SELECT blob FROM file_part"),
        try String.fetchSet(database, sql: "SELECT blob FROM file_dead_blob")
      )
    }
  }

  /// The names of all files with content.
  static func blobsOnDisk(of folder: ServiceFolder) throws -> Set<String> {
    let files = "\(folder.dataPath)/files"
    return Set(
      try ["incoming", "objects"].flatMap { part in
        try FileManager.default.subpathsOfDirectory(atPath: "\(files)/\(part)")
          .map { String($0.split(separator: "/").last ?? "") }.filter { $0.utf8.count == 32 }
      })
  }

  /// The faults of the usage that is counted for quotas: it must be the size of objects and parts, in total
  /// and for each owner.
  static func usageFaults(_ database: Database) throws -> [String] {
    let counted = "SELECT bucket, owner, bytes, objects FROM file_usage WHERE bytes OR objects"
    let held = """
      WITH held AS (
        SELECT bucket, owner, size AS bytes, 1 AS objects FROM file_object
        UNION ALL SELECT bucket, owner, size, 0
        FROM file_part JOIN file_upload ON file_upload.id = upload
      ), shares AS (
        SELECT * FROM held WHERE owner <> ''
        UNION ALL SELECT bucket, '', bytes, objects FROM held
      )
      SELECT bucket, owner, sum(bytes), sum(objects) FROM shares GROUP BY bucket, owner
      """
    let (counts, holdings) = (try shares(counted, database), try shares(held, database))
    return counts == holdings ? [] : ["counted \(counts), held \(holdings)"]
  }

  private static func shares(_ sql: String, _ database: Database) throws -> [String] {
    try Row.fetchAll(database, sql: sql).map { row in
      "\(row[0] as Int64), \(row[1] as String): \(row[2] as Int64) in \(row[3] as Int64)"
    }.sorted()
  }
}
