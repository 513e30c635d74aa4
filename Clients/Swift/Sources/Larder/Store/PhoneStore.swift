import Foundation
import GRDB

/// The phone's SQLite database. What a step changes is one transaction, durable when `write` returns.
final class PhoneStore: Sendable {
  private let database: DatabaseQueue
  private let lock: StoreLock?
  private let isFull = Locked(false)
  /// Tells observers that a transaction has been committed.
  let commits = Broadcast()
  /// The profile whose data the view `entities` shows: that of the access which is under way.
  private let shown = Locked<String?>(nil)
  /// How often what shows of each type has changed.
  private let versions = Locked<(all: Int, ofType: [String: Int])>((0, [:]))
  /// The names of the indexes for lists, the least recently used first.
  let listIndexes = Locked<[String]>([])

  /// - Parameters:
  ///   - url: the file; nil for a database in memory.
  ///   - lock: held as long as the store is open.
  init(url: URL?, lock: StoreLock? = nil) throws {
    self.lock = lock
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    }
    do {
      if let url {
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        Self.protect(url)
        database = try DatabaseQueue(path: url.path, configuration: configuration)
      } else {
        database = try DatabaseQueue(configuration: configuration)
      }
      let isNewer = try database.read { db in try Self.migrator.hasBeenSuperseded(db) }
      guard !isNewer else {
        throw LarderError.storage("the store is of a newer version of the library")
      }
      try Self.migrator.migrate(database)
      try database.writeWithoutTransaction { db in
        try count(db)
        try makeView(db)
        try openListIndexes(db)
      }
    } catch {
      let error = Self.failure(error)
      throw error as? LarderError ?? .storage("\(error)")
    }
  }

  /// Whether there is a file without content: what was in it is lost, or nothing ever was.
  static func isEmptied(_ url: URL) -> Bool {
    func size(_ path: String) -> Int? {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return (attributes?[.size] as? NSNumber)?.intValue
    }
    return size(url.path) == 0 && size(url.path + "-wal") ?? 0 == 0
  }

  /// Makes the file, and what SQLite keeps beside it, its owner's alone.
  private static func protect(_ url: URL) {
    let owned: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    let manager = FileManager.default
    if !manager.fileExists(atPath: url.path) {
      _ = manager.createFile(atPath: url.path, contents: nil, attributes: owned)
    }
    // The other files get the permissions of the first when they are made.
    for suffix in ["", "-wal", "-shm"] where manager.fileExists(atPath: url.path + suffix) {
      try? manager.setAttributes(owned, ofItemAtPath: url.path + suffix)
    }
  }

  func read<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    do {
      return try await database.read(body)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Reads what a profile shows, for code of the app: the view `entities` has the data of that profile.
  func read<Result: Sendable>(
    as profile: String, _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    // The queue of the database has one connection: accesses do not overlap.
    try await read { [shown] db in
      shown.withLock { $0 = profile }
      defer { shown.withLock { $0 = nil } }
      return try body(db)
    }
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    try needSpace()
    do {
      let result = try await database.write(body)
      commits.send()
      return result
    } catch {
      throw Self.failure(error)
    }
  }

  /// What SQLite finds damaged; else "ok".
  func check() throws -> [String] {
    do {
      return try database.read { db in
        try String.fetchAll(db, sql: "PRAGMA quick_check")
      }
    } catch {
      throw Self.failure(error)
    }
  }

  /// A write that a cancelled task completes too.
  func finish(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
    try await Task { try await write(body) }.value
  }

  /// Makes the view `entities` of SQL of the app. It is empty outside of `read(as:)`.
  private func makeView(_ db: Database) throws {
    let shown = shown
    db.add(
      function: DatabaseFunction("larderProfile", argumentCount: 0, pure: true) { _ in
        shown.withLock { $0 }
      })
    try db.execute(
      sql: """
        CREATE TEMP VIEW entities AS
          SELECT type, id, data FROM shown WHERE profile = larderProfile()
        """)
  }

  /// Has all observers read again, since another profile is active. Not a step that can be cancelled: what
  /// the former profile shows must not stay on the screen.
  func reportSwitch() {
    versions.withLock { $0.all += 1 }
    commits.send()
  }

  /// A number that grows with each change of what shows of a type.
  ///
  /// A change counts before its transaction ends. A read that begins later sees it nevertheless: the
  /// queue of the database has one connection.
  func version(of type: String) -> Int {
    versions.withLock { $0.all + ($0.ofType[type] ?? 0) }
  }

  /// Lets all changes of what shows be counted, by whatever statement.
  private func count(_ db: Database) throws {
    let versions = versions
    db.add(
      function: DatabaseFunction("larderChanged", argumentCount: 1) { values in
        if let type = String.fromDatabaseValue(values[0]) {
          versions.withLock { $0.ofType[type, default: 0] += 1 }
        }
        return nil
      })
    for table in ["replica", "shadow"] {
      try db.execute(
        sql: """
          CREATE TEMP TRIGGER \(table)Insert AFTER INSERT ON main.\(table)
            BEGIN SELECT larderChanged(NEW.type); END;
          CREATE TEMP TRIGGER \(table)Update AFTER UPDATE ON main.\(table)
            WHEN NEW.data IS NOT OLD.data OR NEW.profile != OLD.profile
            BEGIN SELECT larderChanged(NEW.type); END;
          CREATE TEMP TRIGGER \(table)Delete AFTER DELETE ON main.\(table)
            BEGIN SELECT larderChanged(OLD.type); END;
          """)
    }
  }

  /// Throws if the store must not be written.
  func needSpace() throws {
    if isFull.withLock({ $0 }) { throw LarderError.storageFull }
  }

  /// Lets every write fail as on a full disk, for tests.
  func setFull(_ isFull: Bool) {
    self.isFull.withLock { $0 = isFull }
  }

  /// Errors of SQLite as those of the library. Others, of the app's own code, stay.
  static func failure(_ error: any Error) -> any Error {
    guard let error = error as? DatabaseError else { return error }
    return switch error.resultCode {
    case .SQLITE_FULL, .SQLITE_IOERR: LarderError.storageFull
    case .SQLITE_CORRUPT, .SQLITE_NOTADB:
      LarderError.storeDamaged(error.message ?? "\(error.resultCode)")
    default: LarderError.storage(error.message ?? "\(error.resultCode)")
    }
  }
}

/// Wakes all observers; of several signals that an observer has not taken yet it gets one.
final class Broadcast: Sendable {
  private let observers = Locked<[UUID: AsyncStream<Void>.Continuation]>([:])

  func send() {
    for observer in observers.withLock({ Array($0.values) }) { observer.yield() }
  }

  func signals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let id = UUID()
    observers.withLock { $0[id] = continuation }
    continuation.onTermination = { [weak self] _ in
      self?.observers.withLock { _ = $0.removeValue(forKey: id) }
    }
    return stream
  }
}
