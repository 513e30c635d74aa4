import Foundation
import GRDB

/// The phone's SQLite database. What a step changes is one transaction, durable when `write` returns.
final class PhoneStore: Sendable {
  private let database: DatabaseQueue
  private let isFull = Locked(false)
  /// Tells observers that a transaction has been committed.
  let commits = Broadcast()
  /// How often what shows of each type has changed.
  private let versions = Locked<(all: Int, ofType: [String: Int])>((0, [:]))
  /// The names of the indexes for lists, the least recently used first.
  let listIndexes = Locked<[String]>([])

  /// - Parameter url: the file; nil for a database in memory.
  init(url: URL?) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    }
    do {
      if let url {
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        database = try DatabaseQueue(path: url.path, configuration: configuration)
      } else {
        database = try DatabaseQueue(configuration: configuration)
      }
      try Self.migrator.migrate(database)
      try database.writeWithoutTransaction { db in
        try count(db)
        try openListIndexes(db)
      }
    } catch {
      let error = Self.failure(error)
      throw error as? LarderError ?? .storage("\(error)")
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

  /// Makes the view `entities` show a profile's data, for SQL of the app.
  func show(profile: String?) async throws {
    do {
      try await database.writeWithoutTransaction { db in
        let condition = profile.map { "profile = '\($0)'" } ?? "0"
        try db.execute(
          sql: """
            DROP VIEW IF EXISTS temp.entities;
            CREATE TEMP VIEW entities AS SELECT type, id, data FROM shown WHERE \(condition)
            """)
      }
      versions.withLock { $0.all += 1 }
      commits.send()
    } catch {
      throw Self.failure(error)
    }
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
