import FoundationEssentials
import GRDB
package import Model

/// The contents and state of a data folder as seen by another process, for `larder doctor`.
package struct StoreInspection: Sendable {
  /// Whether a service uses the folder.
  package let isInUse: Bool
  /// The problems that SQLite's quick or integrity check found; empty if the file is sound.
  package let problems: [String]
  package let sqliteVersion: String
  /// Nil if the file is too damaged to count its rows.
  package let statistics: StoreStatistics?
  /// The size of the write-ahead log, which is periodically copied into the database.
  package let logBytes: Int
  /// See ``Store/floor``; nil if it cannot be read.
  package let floor: Revision?
  /// Whether the database was written by a newer Larder; only that version can open it.
  package let isNewerSchema: Bool
}

/// Inspects a data folder without opening it as a store: it writes nothing and blocks no writer.
struct StoreInspector {
  /// Problems after which SQLite's check stops.
  private static let problemsMax = 20
  /// A log of this size is empty: it holds its header and no frame (SQLite's file format, 4.1).
  private static let logHeaderBytes = 32

  private let folder: String
  /// Whether to compare indexes with tables too, which takes several times as long.
  private let isDeep: Bool
  private let databaseName: String
  private var databasePath: String { "\(folder)/\(databaseName)" }
  private var logPath: String { databasePath + "-wal" }
  private var logIndexPath: String { databasePath + "-shm" }

  init(
    folder: String, isDeep: Bool = false, databaseName: String = StoreFolderLock.databaseName
  ) {
    self.folder = folder
    self.databaseName = databaseName
    self.isDeep = isDeep
  }

  func inspect() throws -> StoreInspection {
    guard FileManager.default.fileExists(atPath: databasePath) else {
      throw StorageError.cannotOpen(folder: folder, reason: "it holds no database")
    }
    let isInUse = try isHeld()
    let found = try inspect(isInUse: isInUse)
    // A service that started in the meantime has written to a file that was read as immutable.
    guard !isInUse, try isHeld() else { return found }
    return try inspect(isInUse: true)
  }

  /// Returns the database's path and the URI parameters for reading all of it without writing.
  ///
  /// The parameters are never `immutable=1`: a service can start while the file is copied.
  func copySource() throws -> (path: String, parameters: String) {
    guard FileManager.default.fileExists(atPath: databasePath) else {
      throw StorageError.cannotOpen(folder: folder, reason: "it holds no database")
    }
    return (databasePath, "mode=ro")
  }

  /// Returns the payloads in the queues of all devices; empty if there is no database, or one that never
  /// had a queue.
  func heldPayloads() throws -> [HeldPayload] {
    guard FileManager.default.fileExists(atPath: databasePath) else { return [] }
    let database = try ReadOnlyDatabase(
      path: databasePath,
      parameters: parameters(isInUse: try isHeld(), logBytes: Self.size(of: logPath)))
    let tables = try database.strings("SELECT name FROM sqlite_master WHERE name = 'mutation'")
    guard !tables.isEmpty else { return [] }
    return try database.rows(HeldPayload.selection(ofDevice: false)).map { row in
      HeldPayload(
        id: row[0], device: row[1], operation: row[2], upstream: row[8], step: row[3],
        unknownRule: row[4], variables: row[5], state: row[6], reason: row[7])
    }
  }

  /// Compares the database's marker with the folder's before the database is opened, since opening would
  /// create an empty one. The caller holds the folder's lock.
  func check(_ folderMarker: String?) throws {
    guard let folderMarker else { return }
    guard let marker = try recoveredMarker() else {
      throw StorageError.noDatabase(folder: folder)
    }
    if marker.folder != folderMarker { throw StorageError.otherDatabase(folder: folder) }
  }

  /// Returns the database's marker; nil if there is no database, or one without a marker.
  func marker() throws -> StoreMarker? {
    try marker(isInUse: try isHeld())
  }

  /// Returns the database's place in a cluster's log; nil if there is no database, or one in no cluster.
  func clusterPosition() throws -> ClusterPosition? {
    guard hasDatabase, FileManager.default.fileExists(atPath: databasePath) else { return nil }
    let database = try ReadOnlyDatabase(
      path: databasePath,
      parameters: parameters(isInUse: try isHeld(), logBytes: Self.size(of: logPath)))
    let tables = try database.strings(
      "SELECT name FROM sqlite_master WHERE name = 'cluster_position'")
    guard !tables.isEmpty else { return nil }
    let place = try database.rows(
      "SELECT cluster, position, epoch, term, is_diverged FROM cluster_position"
    ).first
    return place.map {
      ClusterPosition(
        cluster: $0[0], position: Int64($0[1]) ?? 0, epoch: Int64($0[2]) ?? 0,
        term: Int64($0[3]) ?? 0, isDiverged: $0[4] != "0")
    }
  }

  /// Whether the database has all tables of this version.
  func isCurrent() throws -> Bool {
    let database = try ReadOnlyDatabase(
      path: databasePath,
      parameters: parameters(isInUse: try isHeld(), logBytes: Self.size(of: logPath)))
    let done = try database.strings("SELECT identifier FROM grdb_migrations")
    return Set(Migrations.migrator.migrations).isSubset(of: done)
  }

  /// Whether there is a database that holds anything.
  var hasDatabase: Bool {
    Self.size(of: databasePath) > 0 || Self.hasFrames(Self.size(of: logPath))
  }

  /// Whether the write-ahead log holds what the database does not.
  var hasLog: Bool { Self.hasFrames(Self.size(of: logPath)) }

  /// Whether the file has the tables that every version of Larder has made.
  func isDatabaseOfLarder() throws -> Bool {
    guard Self.size(of: databasePath) > 0 else { return false }
    let database = try ReadOnlyDatabase(path: databasePath, parameters: "immutable=1")
    let tables = try database.strings(
      "SELECT name FROM sqlite_master WHERE name IN ('counter', 'grdb_migrations')")
    return tables.count == 2
  }

  /// Returns the marker as ``marker()`` does. A log that SQLite cannot read without writing its index, as a
  /// crash can leave it, is read with a new index: the caller holds the folder's lock, and opening the
  /// database for writing does the same.
  private func recoveredMarker() throws -> StoreMarker? {
    do {
      return try marker(isInUse: false)
    } catch let error as DatabaseError where Self.needsIndex.contains(error.resultCode) {
      return try marker(parameters: "mode=ro")
    }
  }

  /// The errors of reading a log whose index is missing, or cannot be used as it is.
  private static let needsIndex: [ResultCode] = [
    .SQLITE_PROTOCOL, .SQLITE_CANTOPEN, .SQLITE_READONLY,
  ]

  private func marker(isInUse: Bool) throws -> StoreMarker? {
    try marker(parameters: parameters(isInUse: isInUse, logBytes: Self.size(of: logPath)))
  }

  private func marker(parameters: String) throws -> StoreMarker? {
    let size = Self.size(of: databasePath)
    let logBytes = Self.size(of: logPath)
    guard size > 0 || Self.hasFrames(logBytes), FileManager.default.fileExists(atPath: databasePath)
    else {
      return nil
    }
    let database = try ReadOnlyDatabase(path: databasePath, parameters: parameters)
    let tables = try database.strings("SELECT name FROM sqlite_master WHERE name = 'marker'")
    guard !tables.isEmpty else { return nil }
    return try database.rows("SELECT folder, key_digest FROM marker").first.map {
      StoreMarker(folder: $0[0], keyDigest: $0[1])
    }
  }

  private func inspect(isInUse: Bool) throws -> StoreInspection {
    let logBytes = Self.size(of: logPath)
    let database = try ReadOnlyDatabase(
      path: databasePath, parameters: parameters(isInUse: isInUse, logBytes: logBytes))
    _ = try database.strings("BEGIN")
    let problems = try problems(database)
    let isSound = problems == ["ok"]
    /// Ignores read errors once damage was found, which explains them.
    func reading<Value>(_ body: () throws -> Value) throws -> Value? {
      do { return try body() } catch { if isSound { throw error } else { return nil } }
    }
    return StoreInspection(
      isInUse: isInUse, problems: isSound ? [] : problems,
      sqliteVersion: try database.strings("SELECT sqlite_version()").first ?? "",
      statistics: try reading { try Self.statistics(database) }, logBytes: logBytes,
      floor: try reading { try Self.floor(database) },
      isNewerSchema: try reading { try Self.isNewer(database) } ?? false)
  }

  /// Runs SQLite's check; some damage makes the check itself fail.
  private func problems(_ database: borrowing ReadOnlyDatabase) throws -> [String] {
    do {
      let check = isDeep ? "integrity_check" : "quick_check"
      return try database.strings("PRAGMA \(check)(\(Self.problemsMax))")
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      return [error.message ?? "the file is damaged"]
    }
  }

  private static func statistics(
    _ database: borrowing ReadOnlyDatabase
  ) throws -> StoreStatistics {
    let tables = try database.rows(QueueTypes.tablesOfOthers)
    let version = try database.strings("SELECT sqlite_version()").first ?? ""
    return try StoreStatistics(
      tables: tables.map { ($0[1], $0[2]) }, sqliteVersion: version
    ) { try database.number($0) }
  }

  private static func hasFrames(_ logBytes: Int) -> Bool { logBytes > logHeaderBytes }

  /// Returns the URI parameters for reading without writing. A file that no process uses and whose log is
  /// missing or empty is read as immutable: SQLite cannot read a log of just a header without writing its
  /// index. Another log needs its index: it is shared with a running service, and rebuilt in memory if a
  /// service was killed.
  ///
  /// Only for a log without an index (if just the two files were copied) does SQLite create a file.
  private func parameters(isInUse: Bool, logBytes: Int) -> String {
    if !isInUse, !Self.hasFrames(logBytes) { return "immutable=1" }
    let hasIndex = FileManager.default.fileExists(atPath: logIndexPath)
    return hasIndex ? "mode=ro&readonly_shm=1" : "mode=ro"
  }

  /// Returns whether a service holds the lock: then reading the lock file fails. Otherwise the read itself
  /// locks out a starting service for microseconds, which ``StoreFolderLock`` waits for.
  func isHeld() throws -> Bool {
    let path = "\(folder)/\(StoreFolderLock.lockName)"
    guard FileManager.default.fileExists(atPath: path) else { return false }
    do {
      let lock = try ReadOnlyDatabase(path: path)
      _ = try lock.number("SELECT count(*) FROM sqlite_master")
      return false
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return true
    }
  }

  /// Returns the floor; zero for databases of the first schema, which have none.
  private static func floor(_ database: borrowing ReadOnlyDatabase) throws -> Revision {
    let columns = try database.strings("SELECT name FROM pragma_table_info('counter')")
    guard columns.contains("floor") else { return .zero }
    return Revision(Int64(try database.number("SELECT floor FROM counter WHERE id = 1")))
  }

  private static func isNewer(_ database: borrowing ReadOnlyDatabase) throws -> Bool {
    let known = Set(Migrations.migrator.migrations)
    return try database.strings("SELECT identifier FROM grdb_migrations")
      .contains { !known.contains($0) }
  }

  private static func size(of path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }
}
