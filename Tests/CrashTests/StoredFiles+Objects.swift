import Foundation
import GRDB

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
