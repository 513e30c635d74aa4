import GRDB

/// Opens the writing connection and the read-only ones with their settings.
struct Connections {
  /// The size that the log keeps once it has been checkpointed.
  private static let logBytesKept = 64 << 20

  private let path: String
  private let configuration: StoreConfiguration

  init(path: String, _ configuration: StoreConfiguration) {
    self.path = path
    self.configuration = configuration
  }

  /// Opens the one connection that writes and checkpoints: SQLite before 3.51.3 can lose pages if
  /// two connections do either at once.
  ///
  /// - Parameters:
  ///   - slot: holds the watch of queries that run inside a write.
  ///   - checksForeignKeys: false for a database that only takes over what another one has checked.
  ///   - prepare: does more to the connection.
  func openWriter(
    _ slot: WatchSlot, checksForeignKeys: Bool = true,
    _ prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) throws -> DatabaseQueue {
    var settings = settings(label: "writer", cacheBytes: configuration.writerCacheBytes, slot)
    settings.journalMode = .wal
    settings.foreignKeysEnabled = checksForeignKeys
    // GroupedWriter checkpoints, after callers that wait for a commit have been resumed.
    settings.prepareDatabase { db in
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      try db.execute(sql: "PRAGMA journal_size_limit = \(Self.logBytesKept)")
      try prepare(db)
    }
    return try DatabaseQueue(path: path, configuration: settings)
  }

  func openReader(label: String) throws -> ReadConnection {
    let slot = WatchSlot()
    var settings = settings(label: label, cacheBytes: configuration.readerCacheBytes, slot)
    settings.readonly = true
    return ReadConnection(
      queue: try DatabaseQueue(path: path, configuration: settings), slot: slot)
  }

  private func settings(label: String, cacheBytes: Int, _ slot: WatchSlot) -> Configuration {
    var settings = Configuration()
    settings.label = "larder \(label)"
    settings.prepareDatabase { db in
      // Negative: in KiB (SQLite's "PRAGMA cache_size").
      try db.execute(sql: "PRAGMA cache_size = -\(cacheBytes / 1024)")
      try db.execute(sql: "PRAGMA temp_store = MEMORY")
      if let connection = db.sqliteConnection {
        LikeFunction.install(on: connection, slot)
        TextFunctions.install(on: connection, slot)
        MembersFunction.install(on: connection, slot)
      }
      try SearchScoreFunction.install(on: db, slot)
    }
    return settings
  }
}

/// A read-only connection, and the slot in which its functions find the watch of the running query.
struct ReadConnection: Sendable {
  let queue: DatabaseQueue
  let slot: WatchSlot

  /// Runs reads in one snapshot on the connection's queue. Like GRDB's `asyncRead`, which prepares the
  /// statements of each transaction again.
  ///
  /// - Parameter body: receives the error if no transaction could begin.
  func read(_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) {
    queue.asyncWriteWithoutTransaction { database in
      do {
        try PreparedStatement(database, "BEGIN DEFERRED TRANSACTION", bindsAll: true).run()
      } catch {
        return body(.failure(error))
      }
      body(.success(database))
      // After some errors SQLite has ended the transaction by itself.
      guard database.isInsideTransaction else { return }
      do {
        try PreparedStatement(database, "COMMIT TRANSACTION", bindsAll: true).run()
      } catch {
        try? database.rollback()
      }
    }
  }
}
