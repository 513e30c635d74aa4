import GRDB
import Model

/// One command inside the writer's transaction: its revision, its change rows and its report.
final class WriteContext {
  let database: Database
  let memory: WriterMemory
  let catalogue: TypeCatalogue
  /// The call that the command's writes are attributed to.
  private(set) var call: Int64
  let horizon: Int64
  /// The command's revision, taken with the first change of content; every row it changes carries
  /// it.
  private(set) var revision: Int64?
  var isExact = true
  /// The key of the result whose root changed.
  var changedResult: ResultKey?
  private(set) var changes: [CommitReport.Change] = []
  private var invalidated: [InvalidationTarget] = []
  private var overlays: [CommitReport.Overlay] = []
  private var hookEvents = HookEventCounts()
  /// Whether nothing of it will be committed: it then takes no revision of its own, so that no cursor is
  /// issued for one that the next commit has.
  var isProvisional = false

  init(
    _ database: Database, _ memory: WriterMemory, _ catalogue: TypeCatalogue, call: CallNumber,
    horizon: CallNumber
  ) {
    self.database = database
    self.memory = memory
    self.catalogue = catalogue
    self.call = call.value
    self.horizon = min(horizon.value, call.value)
    memory.note(call: call)
    memory.note(horizon: self.horizon)
  }

  /// Attributes the writes of `body` to another call than the command's own.
  func writing(as other: CallNumber, _ body: () throws -> Void) rethrows {
    let own = call
    defer { call = own }
    call = other.value
    try body()
  }

  func takeRevision() -> Int64 {
    if let revision { return revision }
    if !isProvisional { memory.counters.revision += 1 }
    revision = memory.counters.revision
    return memory.counters.revision
  }

  func note(_ target: InvalidationTarget) {
    if !invalidated.contains(target) { invalidated.append(target) }
  }

  /// Records a change of a device's queue, so that readers of the device's changes are notified.
  func noteQueue(of device: String) {
    let change = CommitReport.Change(
      scope: .device(device), key: EntityKey(type: QueueTypes.outcome, key: ""))
    if changes.last != change { changes.append(change) }
  }

  /// Records a change that was logged together with others.
  func noteChange(of key: EntityKey, in scope: Scope) {
    changes.append(CommitReport.Change(scope: scope.observed, key: key))
  }

  func note(_ overlay: CommitReport.Overlay) { overlays.append(overlay) }

  func note(_ events: HookEventCounts) { hookEvents.add(events) }

  /// Adds targets that are known to be distinct.
  func note(distinct targets: [InvalidationTarget]) {
    invalidated += targets
  }

  /// Ends the command and forgets marks that no response can be older than.
  ///
  /// - Parameter prunes: false if another part of the same command follows, which forgets them.
  func finish(prunes: Bool = true) -> CommitReport {
    if prunes {
      memory.pendingInvalidations.prune(horizon: horizon)
      memory.pruneMutations(horizon: horizon)
    }
    return CommitReport(
      revision: revision.map(Revision.init), changes: changes, invalidated: invalidated,
      resultChanged: changedResult != nil, changedResult: changedResult, isExact: isExact,
      mayBeDue: memory.lastInvalidation > call,
      head: Revision(memory.counters.revision), overlays: overlays, hookEvents: hookEvents)
  }

  /// Whether a purge after `call` covers an entity.
  func isPurged(_ key: EntityKey, scope: Int64, since call: Int64) -> Bool {
    let marks = memory.pendingInvalidations
    guard !marks.isEmpty else { return false }
    return marks.purges(.entity(key), scope: scope, after: call)
      || marks.purges(.type(key.type), scope: scope, after: call)
  }

  // MARK: The change log

  /// Logs that an entity was created in this scope, or stored again after it was evicted, which is
  /// a change to readers that knew it before.
  ///
  /// - Parameter lifts: whether a tombstone was overwritten.
  func logCreation(
    of key: EntityKey, in scope: Scope, id: Int64, type: Int64, lifts: Bool = false
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO change (scope, type, key, created, revision, kind) VALUES (?1, ?2, ?3, ?4, ?4, 0) \
      ON CONFLICT (scope, type, key) DO UPDATE SET \
      created = CASE kind WHEN \(ChangeKind.evicted.rawValue) THEN created \
      ELSE excluded.created END, revision = excluded.revision, kind = 0, \
      lifted = CASE ?5 WHEN 1 THEN excluded.revision ELSE lifted END
      """)
    statement.bind(lifts ? 1 : 0, at: 5)
    try log(key, in: scope, id: id, type: type, statement)
  }

  func logUpdate(of key: EntityKey, in scope: Scope, id: Int64, type: Int64) throws {
    let statement = try PreparedStatement(
      database, "UPDATE change SET revision = ?4 WHERE scope = ?1 AND type = ?2 AND key = ?3")
    try log(key, in: scope, id: id, type: type, statement)
  }

  /// Logs a deletion. `created` stays: a reader whose cursor is between the two revisions gets the
  /// deletion.
  ///
  /// - Parameter lifts: whether a tombstone was removed.
  func logDeletion(
    of key: EntityKey, in scope: Scope, id: Int64, type: Int64, lifts: Bool = false
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO change (scope, type, key, created, revision, kind) VALUES (?1, ?2, ?3, ?4, ?4, 1) \
      ON CONFLICT (scope, type, key) DO UPDATE SET revision = excluded.revision, kind = 1, \
      lifted = CASE ?5 WHEN 1 THEN excluded.revision ELSE lifted END
      """)
    statement.bind(lifts ? 1 : 0, at: 5)
    try log(key, in: scope, id: id, type: type, statement)
    try TombstoneLog.add(key.key, scope: id, type: type, at: takeRevision(), database)
  }

  /// Logs the purge of an entity that is not stored: readers that knew it get a deletion.
  func logDeletionOfEvicted(_ key: EntityKey, in scope: Scope, id: Int64, type: Int64) throws {
    let statement = try PreparedStatement(
      database, "SELECT kind FROM change WHERE scope = ?1 AND type = ?2 AND key = ?3")
    statement.bind(id, at: 1)
    statement.bind(type, at: 2)
    statement.bind(key.key, at: 3)
    let isEvicted =
      try statement.step() && ChangeKind(rawValue: statement.int64(0)) == .evicted
    statement.reset()
    if isEvicted { try logDeletion(of: key, in: scope, id: id, type: type) }
  }

  private func log(
    _ key: EntityKey, in scope: Scope, id: Int64, type: Int64, _ statement: PreparedStatement
  ) throws {
    statement.bind(id, at: 1)
    statement.bind(type, at: 2)
    statement.bind(key.key, at: 3)
    statement.bind(takeRevision(), at: 4)
    try statement.run()
    changes.append(CommitReport.Change(scope: scope.observed, key: key))
  }

  /// Returns the table of a type.
  func table(of type: String) throws(StorageError) -> EntityTable {
    guard let table = catalogue[type] else {
      throw .failed(code: 0, message: "the type \(type) has no table; open the store with it")
    }
    return table
  }
}
