import GRDB
import Model

/// Migrates a database when it is opened and reads what the store needs in memory.
struct Opening {
  let catalogue: TypeCatalogue
  let counters: WriterMemory.Counters
  let segments: [Segment]
  let memory: WriterMemory
  let overlays: [CommitReport.Overlay]
  /// Nil for a single node and for a replica.
  private(set) var recorder: TransactionRecorder?
  /// See ``Store/position``.
  private(set) var position: Int64 = 0
  /// See ``Store/resetPosition``.
  private(set) var resetPosition: Int64 = 0

  /// - Parameter capture: installed on the connection, if it is a leader's.
  init(
    _ queue: DatabaseQueue, _ configuration: StoreConfiguration, types: [EntityType],
    capture: ChangeCapture?
  ) throws {
    let migrator = Migrations.migrator
    let isNewer = try queue.read { try migrator.hasBeenSuperseded($0) }
    if isNewer { throw StorageError.newerSchema(folder: configuration.folder) }
    switch configuration.role {
    case .alone:
      guard try queue.read({ try ClusterPosition.read($0) }) == nil else {
        throw StorageError.inCluster
      }
      try migrator.migrate(queue)
      try self.init(preparing: queue, configuration, types: types) { _ in }
    case .replica, .replay:
      try self.init(reading: queue, configuration, types: types, migrator)
    case .leader(let cluster, let epoch, let log):
      guard let capture else { throw StorageError.failed(code: 0, message: "no changes are noted") }
      let member = LeaderOpening(
        cluster: cluster, epoch: epoch, log: log, capture: capture)
      let isReset = try member.migrate(queue, migrator)
      let recorder = try queue.read { try member.recorder($0) }
      do {
        try self.init(preparing: queue, configuration, types: types) { database in
          try recorder.append([], isReset: isReset, database)
        }
      } catch {
        recorder.noteRolledBack()
        throw error
      }
      recorder.noteCommitted()
      self.recorder = recorder
      position = recorder.position
      resetPosition = isReset ? position : 0
    }
  }

  /// Reads what a replica needs, and writes nothing.
  private init(
    reading queue: DatabaseQueue, _ configuration: StoreConfiguration, types: [EntityType],
    _ migrator: DatabaseMigrator
  ) throws {
    let isRead: Bool
    if case .replay = configuration.role { isRead = false } else { isRead = true }
    (catalogue, counters, segments, memory, overlays, position) = try queue.read { db in
      guard try !isRead || migrator.hasCompletedMigrations(db) else {
        throw StorageError.otherTables("the database is of an older version of Larder")
      }
      let catalogue = try TypeCatalogue(reading: types, db)
      let counters = try WriterMemory.Counters(db)
      let memory = WriterMemory(counters: counters, kindsPresent: [:])
      return (
        catalogue, counters, try Self.segments(db), memory,
        isRead ? try OverlayRows.overlaidEntities(db) : [],
        try ClusterPosition.read(db)?.position ?? 0
      )
    }
  }

  /// - Parameter end: called at the end of the transaction.
  private init(
    preparing queue: DatabaseQueue, _ configuration: StoreConfiguration, types: [EntityType],
    end: (Database) throws -> Void
  ) throws {
    (catalogue, counters, segments, memory, overlays) = try queue.write { db in
      try LocalRecord.rename(configuration.local, db)
      try LocalUniqueIndexes(database: db).dropOutdated(configuration.local)
      let catalogue = try TypeCatalogue(preparing: types, db)
      try SearchIndex.prepare(types, catalogue, db)
      let counters = try WriterMemory.Counters(db)
      let segments = try Self.beginSegment(configuration, at: counters.revision, db)
      try EntityHistoryRecorder(database: db).stopUnobserved()
      let memory = WriterMemory(
        counters: counters, kindsPresent: try Self.kindsPresent(in: catalogue, db),
        typesWithLocalFields: try LocalFieldRows.types(db))
      var migration = LocalMigration(configuration, catalogue, memory, db)
      try migration.run()
      for type in configuration.local.types.keys.sorted() {
        if let table = catalogue[type] { try UsageSchema.prepare(table, db) }
      }
      if !memory.counters.isStored(as: counters) { try memory.saveCounters(db) }
      try end(db)
      return (catalogue, memory.counters, segments, memory, try OverlayRows.overlaidEntities(db))
    }
  }

  private static func beginSegment(
    _ configuration: StoreConfiguration, at revision: Int64, _ db: Database
  ) throws -> [Segment] {
    try db.execute(
      sql: "INSERT INTO segment (nonce, start, opened) VALUES (?, ?, ?)",
      arguments: [
        Int64(bitPattern: configuration.segment), revision, configuration.opened.milliseconds,
      ])
    return try Self.segments(db)
  }

  private static func segments(_ db: Database) throws -> [Segment] {
    try Row.fetchAll(db, sql: "SELECT nonce, start FROM segment ORDER BY number")
      .map {
        Segment(nonce: UInt64(bitPattern: $0["nonce"]), start: Revision($0["start"]))
      }
  }

  /// Finds the kinds of scope that hold rows of each type: one look-up per scope, ended by the
  /// first hit. Rows of local fields hide nothing, and those of local types have no wider copies.
  private static func kindsPresent(
    in catalogue: TypeCatalogue, _ db: Database
  ) throws -> [String: Set<Scope.Kind>] {
    var present: [String: Set<Scope.Kind>] = [:]
    for table in catalogue.all {
      for kind in Scope.Kind.allCases where kind != .public {
        let isPresent = try Bool.fetchOne(
          db,
          sql: """
            SELECT EXISTS (SELECT 1 FROM scope CROSS JOIN \(EntityTable.quoted(table.name)) AS stored \
            ON stored.scope = scope.id WHERE scope.kind = ? AND scope.division <> ?)
            """, arguments: [kind.rawValue, Scope.ownPartition])
        if isPresent == true { present[table.type, default: []].insert(kind) }
      }
    }
    return present
  }
}
