import FoundationEssentials
import GRDB
import Model

/// Looks into a data folder without becoming its store: nothing is written, nothing waits for it.
struct StoreInspector {
  /// Faults after which the check ends: more would tell nobody anything.
  private static let problemsMax = 20

  private let folder: String
  /// Compares indexes with tables too, which takes several times as long.
  private let isDeep: Bool
  private var databasePath: String { "\(folder)/\(DataFolder.databaseName)" }
  private var logPath: String { databasePath + "-wal" }
  private var logIndexPath: String { databasePath + "-shm" }

  init(folder: String, isDeep: Bool = false) {
    self.folder = folder
    self.isDeep = isDeep
  }

  func inspect() throws -> StoreInspection {
    guard FileManager.default.fileExists(atPath: databasePath) else {
      throw StorageError.cannotOpen(folder: folder, reason: "it holds no database")
    }
    let isInUse = try isHeld()
    let found = try inspect(isInUse: isInUse)
    // A service that began meanwhile has been writing under a look that took the file for still.
    guard !isInUse, try isHeld() else { return found }
    return try inspect(isInUse: true)
  }

  /// Where the database is and how to read all of it without writing to it.
  ///
  /// Never as a file that cannot change: a service may begin to while it is copied.
  func placeToCopy() throws -> (path: String, parameters: String) {
    guard FileManager.default.fileExists(atPath: databasePath) else {
      throw StorageError.cannotOpen(folder: folder, reason: "it holds no database")
    }
    return (databasePath, "mode=ro")
  }

  /// What the queues of all devices hold; empty where there is no database, or one that never had a
  /// queue.
  func heldPayloads() throws -> [HeldPayload] {
    guard FileManager.default.fileExists(atPath: databasePath) else { return [] }
    let database = try ReadOnlyDatabase(
      path: databasePath,
      parameters: parameters(isInUse: try isHeld(), logBytes: Self.size(of: logPath)))
    let tables = try database.strings("SELECT name FROM sqlite_master WHERE name = 'mutation'")
    guard !tables.isEmpty else { return [] }
    return try database.rows(HeldPayload.selection(ofDevice: false)).map { row in
      HeldPayload(
        id: MutationID(row[0]), device: row[1], operation: row[2],
        step: MutationStep(rawValue: row[3]) ?? .send,
        verifier: UnknownOutcomeRule(text: row[4])?.verifier, variables: row[5],
        isParked: row[6] == MutationState.parked.rawValue)
    }
  }

  /// Compares the database with what its folder says it is marked with, before it is opened: that
  /// would make an empty one. The caller holds the folder's lock.
  func check(_ folderMarker: String?) throws {
    guard let folderMarker else { return }
    guard let marker = try marker(isInUse: false) else {
      throw StorageError.noDatabase(folder: folder)
    }
    if marker.folder != folderMarker { throw StorageError.otherDatabase(folder: folder) }
  }

  /// Nil where there is no database, or one without a marker.
  func marker() throws -> StoreMarker? {
    try marker(isInUse: try isHeld())
  }

  private func marker(isInUse: Bool) throws -> StoreMarker? {
    let size = Self.size(of: databasePath)
    let logBytes = Self.size(of: logPath)
    guard size > 0 || logBytes > 0, FileManager.default.fileExists(atPath: databasePath) else {
      return nil
    }
    let database = try ReadOnlyDatabase(
      path: databasePath, parameters: parameters(isInUse: isInUse, logBytes: logBytes))
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
    /// Damage was found already: what cannot be read because of it is no news.
    func reading<Answer>(_ body: () throws -> Answer) throws -> Answer? {
      do { return try body() } catch { if isSound { throw error } else { return nil } }
    }
    return StoreInspection(
      isInUse: isInUse, problems: isSound ? [] : problems,
      sqliteVersion: try database.strings("SELECT sqlite_version()").first ?? "",
      statistics: try reading { try Self.statistics(database) }, logBytes: logBytes,
      floor: try reading { try Self.floor(database) },
      isNewerSchema: try reading { try Self.isNewer(database) } ?? false)
  }

  /// Some damage ends the check itself.
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

  /// How to read without writing. A file that nobody holds and that has no log is read as if it
  /// could not change. With a log, its index is needed: it is shared with a running service, and
  /// made anew in memory where a service was killed.
  ///
  /// A log without an index (the two files were copied) is the one case where SQLite makes a file.
  private func parameters(isInUse: Bool, logBytes: Int) -> String {
    if !isInUse, logBytes == 0 { return "immutable=1" }
    let hasIndex = FileManager.default.fileExists(atPath: logIndexPath)
    return hasIndex ? "mode=ro&readonly_shm=1" : "mode=ro"
  }

  /// Reading the lock's file fails while a service holds it; where none does, the look keeps out
  /// a service for microseconds, which ``DataFolder`` waits for.
  func isHeld() throws -> Bool {
    let path = "\(folder)/\(DataFolder.lockName)"
    guard FileManager.default.fileExists(atPath: path) else { return false }
    do {
      let lock = try ReadOnlyDatabase(path: path)
      _ = try lock.number("SELECT count(*) FROM sqlite_master")
      return false
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return true
    }
  }

  /// Databases of the first schema have none.
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
