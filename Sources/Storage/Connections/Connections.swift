import GRDB

/// Opens the writing connection and the read-only ones with the settings each needs.
struct Connections {
  /// What the log keeps of its size once it has been copied back.
  private static let logBytesKept = 64 << 20

  private let path: String
  private let configuration: StoreConfiguration

  init(path: String, _ configuration: StoreConfiguration) {
    self.path = path
    self.configuration = configuration
  }

  /// The one connection that writes and copies the log back: SQLite before 3.51.3 can lose pages
  /// where two connections do either at once.
  ///
  /// - Parameter slot: of the watch for what is checked again inside a write.
  func openWriter(_ slot: WatchSlot) throws -> DatabaseQueue {
    var settings = settings(label: "writer", cacheBytes: configuration.writerCacheBytes, slot)
    settings.journalMode = .wal
    // GroupedWriter does it, once those who wait for a commit have been told.
    settings.prepareDatabase { db in
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      try db.execute(sql: "PRAGMA journal_size_limit = \(Self.logBytesKept)")
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
      if let connection = db.sqliteConnection { LikeFunction.install(on: connection, slot) }
    }
    return settings
  }
}
