import GRDB
package import Model
import Synchronization

/// The entity store: upstream data, who can see it, and the order in which it changed.
///
/// One connection writes; waiting writes share a transaction, in which a failed write undoes only
/// itself, and resume after COMMIT. Reads run on connections of their own, each in one snapshot.
/// Every method is a complete operation; no transaction and no SQL leaves this module.
package final class Store: Sendable {
  /// Every boot's range of revisions, oldest first; the last is this boot's.
  package let segments: [Segment]
  /// The highest call number found when the store was opened.
  package let lastCall: CallNumber
  /// The entities with overlays when the store was opened. Commits report later changes.
  package let overlays: [CommitReport.Overlay]
  /// The fields that operations name, by type.
  let namedFields: [String: Set<String>]
  /// Guarded, since a clean-up replaces it while the store is open.
  private let currentCatalogue: Mutex<TypeCatalogue>
  let directory = ScopeDirectory()
  let touches: TouchLedger
  /// Types whose history is known to be kept since this boot, see ``EntityHistoryRecorder``.
  let keptTypes = Mutex<Set<String>>([])
  /// See ``forgetWords(pages:)``.
  let emptiedIndexes = Mutex(EmptiedIndexes())
  let writer: GroupedWriter
  /// Short look-ups, which never wait for a long read.
  let reader: GroupedReader
  /// Whole-table reads of our own, and pages whose cost is bounded.
  let longReader: GroupedReader
  /// Queries of callers' own making.
  let queries: QueryReaders
  let rowMemories: RowMemories
  /// The thread of operators' statements: an empty database in memory, since GRDB's queues are this
  /// module's only threads.
  let console: DatabaseQueue
  private let folder: StoreFolderLock
  /// One for each kind of caller: public, user and device.
  private static let queryConnections = 3
  private let damageNote: StoreDamage
  /// The row that this opening appended and that stands for a snapshot, see ``LogPayload/isReset``; 0 if it did
  /// not. Other nodes need a snapshot of this position or later.
  package let resetPosition: Int64
  /// Kept for the writer's connection, which calls it; nil unless the store is a leader's.
  private let capture: ChangeCapture?
  /// What devices have submitted to a cluster and this store does not have yet.
  let provisional: ProvisionalQueues

  private init(
    folder: StoreFolderLock, opening: Opening, types: [EntityType], writer: GroupedWriter,
    capture: ChangeCapture?, reader: GroupedReader,
    longReader: GroupedReader, queries: QueryReaders, rowMemories: RowMemories,
    console: DatabaseQueue, damage: StoreDamage, provisional: ProvisionalQueues
  ) {
    self.rowMemories = rowMemories
    damageNote = damage
    self.capture = capture
    resetPosition = opening.resetPosition
    self.provisional = provisional
    self.folder = folder
    segments = opening.segments
    lastCall = CallNumber(opening.counters.call)
    overlays = opening.overlays
    currentCatalogue = Mutex(opening.catalogue)
    namedFields = Dictionary(
      uniqueKeysWithValues: types.map { ($0.name, Set($0.columns.map(\.name))) })
    touches = opening.memory.touches
    self.writer = writer
    self.reader = reader
    self.longReader = longReader
    self.queries = queries
    self.console = console
  }

  /// Opens or creates the database, migrates it, and creates or widens the table of each type.
  package static func open(
    _ configuration: StoreConfiguration, types: [EntityType]
  ) throws(StorageError) -> Store {
    let folder = try StoreFolderLock(path: configuration.folder)
    let types = types + QueueTypes.all
    BackupWorkFolder.removeLeftover(BackupWriter.plainFolder(folder.databasePath))
    BackupWorkFolder.removeLeftover(DatabaseRestore.workFolder(folder.databasePath))
    do {
      try StoreInspector(folder: configuration.folder).check(configuration.folderMarker)
      let connections = Connections(path: folder.databasePath, configuration)
      let slot = WatchSlot()
      let capture = try ChangeCapture.forRole(configuration.role)
      let isReplica = configuration.role.isReplica
      // Of what a log row says, nothing is checked or done again.
      let writing = try connections.openWriter(slot, checksForeignKeys: !isReplica) { database in
        capture?.install(on: database)
        if isReplica { try LogApplier.switchTriggersOff(database) }
      }
      let opening = try Opening(writing, configuration, types: types, capture: capture)
      opening.memory.watchSlot = slot
      let damage = StoreDamage()
      let writer = GroupedWriter(
        queue: writing, memory: opening.memory, checkpointPages: configuration.checkpointPages,
        damage: damage, recorder: opening.recorder, position: opening.position)
      if isReplica { writer.refuseAll(with: .notLeader) }
      let redirection = ReadRedirection()
      let longReader = try connections.openReader(label: "long reader")
      let queryReaders = try (1...Self.queryConnections).map {
        try connections.openReader(label: "query reader \($0)")
      }
      return Store(
        folder: folder, opening: opening, types: types, writer: writer,
        capture: capture,
        reader: GroupedReader(
          try connections.openReader(label: "reader"), damage: damage, redirection: redirection),
        longReader: GroupedReader(longReader, damage: damage, redirection: redirection),
        queries: QueryReaders(
          connections: queryReaders, damage: damage, redirection: redirection),
        rowMemories: RowMemories([longReader] + queryReaders),
        console: try DatabaseQueue(), damage: damage, provisional: ProvisionalQueues(redirection))
    } catch {
      folder.release()
      throw StorageError(opening: error, folder: configuration.folder)
    }
  }

  /// Registers an observer of each commit, called on the writer's thread, in commit order, after
  /// COMMIT and before the callers that wrote resume. Must be quick.
  package func observe(_ observer: @escaping @Sendable (CommitReport) -> Void) {
    writer.observe(observer)
  }

  /// The first error since opening that shows that the database file is damaged or missing.
  package var damage: StorageError? { damageNote.found }

  /// The number of writes since opening that failed because the disk was full. A small write can succeed
  /// on such a disk, in space that the database already has.
  package var fullCount: Int { damageNote.fullCount }

  /// Registers an observer of damage.
  ///
  /// - Parameter observer: called once with ``damage``.
  package func observeDamage(_ observer: @escaping @Sendable (StorageError) -> Void) {
    damageNote.observe(observer)
  }

  /// Checkpoints the write-ahead log and frees its disk space, as far as both can be done now.
  /// Blocks until then.
  package func truncateLog() {
    writer.truncateLog()
  }

  /// Registers a function that frees disk space.
  ///
  /// - Parameter freeSpace: called when a removal finds the disk full; frees some space, and returns
  ///   whether it did.
  package func whenFull(_ freeSpace: @escaping @Sendable () -> Bool) {
    writer.whenFull(freeSpace)
  }

  /// Makes every write fail with ``StorageError/readOnly`` from now on: for a store that is a copy.
  package func refuseWrites() {
    writer.refuseAll(with: .readOnly)
  }

  /// Finishes waiting reads and writes, checkpoints the write-ahead log and releases the folder.
  /// Blocks until the checkpoint is done; call it once, at the end.
  package func close() {
    try? console.close()
    reader.close()
    longReader.close()
    queries.close()
    writer.close()
    folder.release()
  }

  /// The tables of types and their columns, as committed.
  var catalogue: TypeCatalogue { currentCatalogue.withLock { $0 } }

  func replaceCatalogue(by catalogue: TypeCatalogue) {
    currentCatalogue.withLock { $0 = catalogue }
  }

  /// The path of the database; that of its write-ahead log ends in `-wal`.
  package var databasePath: String { folder.databasePath }

  /// The last revision committed.
  package var head: Revision { writer.head }

  /// The revision of a commit that readers can see before its observers know it; zero without one.
  package var revisionUnderWay: Revision { writer.revisionUnderWay }
}
