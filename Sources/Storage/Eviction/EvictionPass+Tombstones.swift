import GRDB
import Model

/// The order in which deletions are removed: that of ``TombstoneLog``.
enum TombstoneSweep {
  struct Place: Equatable {
    var revision: Int64
    var scope: Int64
    var type: Int64
    var key: String
  }
}

extension EvictionPass.Phase {
  static let firstOfTombstones = EvictionPass.Phase.tombstones(
    after: .init(revision: 0, scope: -1, type: 0, key: ""))
  static let firstOfInvalidations = EvictionPass.Phase.invalidations(
    after: .init(kind: -1, name: "", scope: 0))
}

extension EvictionPass {
  private static let changesAtATime = 64

  private struct LoggedChange {
    let place: TombstoneSweep.Place
    /// Nil if the entity has changed since.
    let kind: ChangeKind?
  }

  /// Removes old deletions and raises the floor over them. Also removes old log rows of evicted entities,
  /// which are not reported to any cursor.
  func sweepTombstones(
    after last: TombstoneSweep.Place, olderThan deadline: Timestamp
  ) throws {
    let revision = try RevisionTimes(database).lastRevision(by: deadline)
    let changes = try changes(after: last, upTo: revision)
    for change in changes {
      try expire(change)
      phase = .tombstones(after: change.place)
      if work.isSpent { return }
    }
    guard changes.count < Self.changesAtATime else { return }
    try RevisionTimes(database).forget(before: revision)
    phase = .firstOfInvalidations
  }

  private func expire(_ change: LoggedChange) throws {
    work.spend(EvictionWork.read)
    let isDeletion = change.kind == .deleted
    guard try !isDeletion || removeTombstone(of: change.place) else { return }
    work.spend(EvictionWork.remove)
    if change.kind != nil {
      try delete("DELETE FROM change WHERE scope = ?1 AND type = ?2 AND key = ?3", change.place)
    }
    try delete(
      "DELETE FROM gone WHERE scope = ?1 AND type = ?2 AND key = ?3 AND revision = ?4",
      change.place, revision: change.place.revision)
    guard isDeletion else { return }
    memory.counters.floor = max(memory.counters.floor, change.place.revision)
    report.tombstones += 1
  }

  private func changes(
    after last: TombstoneSweep.Place, upTo revision: Int64
  ) throws -> [LoggedChange] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT gone.revision, gone.scope, gone.type, gone.key, change.kind FROM gone \
      LEFT JOIN change ON change.scope = gone.scope AND change.type = gone.type \
      AND change.key = gone.key AND change.revision <= gone.revision AND change.kind <> 0 \
      WHERE gone.revision <= ?1 \
      AND (gone.revision, gone.scope, gone.type, gone.key) > (?2, ?3, ?4, ?5) \
      ORDER BY gone.revision, gone.scope, gone.type, gone.key LIMIT ?6
      """)
    statement.bind(revision, at: 1)
    statement.bind(last.revision, at: 2)
    statement.bind(last.scope, at: 3)
    statement.bind(last.type, at: 4)
    statement.bind(last.key, at: 5)
    statement.bind(Int64(Self.changesAtATime), at: 6)
    var changes: [LoggedChange] = []
    while try statement.step() {
      changes.append(
        LoggedChange(
          place: .init(
            revision: statement.int64(0), scope: statement.int64(1), type: statement.int64(2),
            key: statement.string(3)),
          kind: statement.optionalInt64(4).flatMap(ChangeKind.init)))
    }
    statement.reset()
    return changes
  }

  /// Removes a tombstone unless it still hides a wider row or the order rule still needs it for a late
  /// response; then it stays until a later pass.
  ///
  /// - Returns: whether no row is left.
  private func removeTombstone(of place: TombstoneSweep.Place) throws -> Bool {
    guard let table = tables.first(where: { $0.table.id == place.type }),
      let row = try StoredRow.find(place.key, scope: place.scope, table.table, database)
    else { return true }
    guard row.fields == nil, max(row.call, row.barrier) <= horizon,
      try !ScopeLayers(database).hasWiderContents(place.key, under: place.scope, table),
      try expireLocalFields(of: place.key, table, deleted: row.received)
    else { return false }
    work.spend(EvictionWork.remove)
    let statement = try PreparedStatement(database, table.table.delete)
    statement.bind(row.rowid, at: 1)
    try statement.run()
    try PrivateRows.remove(place.key, scope: place.scope, type: place.type, database)
    return true
  }

  private func delete(
    _ sql: String, _ place: TombstoneSweep.Place, revision: Int64? = nil
  ) throws {
    let statement = try PreparedStatement(database, sql)
    statement.bind(place.scope, at: 1)
    statement.bind(place.type, at: 2)
    statement.bind(place.key, at: 3)
    if let revision { statement.bind(revision, at: 4) }
    try statement.run()
  }
}

/// The times of revisions, to within an hour: a row states that its revision and all earlier ones were
/// committed by that time.
///
/// Written by eviction steps, not by commits, so writes pay nothing for it. If steps are rare the times are
/// late, so rows that expire by age expire late, never early.
struct RevisionTimes {
  private static let interval = Duration.seconds(3600)

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Records the time of the last revision, at most once an hour.
  ///
  /// - Parameter head: the last revision.
  func note(head: Int64, at now: Timestamp) throws {
    if let last = try last() {
      let isNews = head > last.revision && last.at.elapsed(until: now) >= Self.interval
      let isAhead = now < last.at
      guard isNews || isAhead else { return }
    }
    // Times from a clock that was ahead would make all later revisions look too young, forever.
    let ahead = try PreparedStatement(database, "DELETE FROM revision_time WHERE at > ?1")
    ahead.bind(now.milliseconds, at: 1)
    try ahead.run()
    let insert = try PreparedStatement(
      database, "INSERT OR IGNORE INTO revision_time (revision, at) VALUES (?1, ?2)")
    insert.bind(head, at: 1)
    insert.bind(now.milliseconds, at: 2)
    try insert.run()
  }

  /// Returns the last revision known to be committed by a time; 0 for none.
  func lastRevision(by time: Timestamp) throws -> Int64 {
    let statement = try PreparedStatement(
      database, "SELECT coalesce(max(revision), 0) FROM revision_time WHERE at <= ?1")
    statement.bind(time.milliseconds, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  func forget(before revision: Int64) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM revision_time WHERE revision < ?1")
    statement.bind(revision, at: 1)
    try statement.run()
  }

  private func last() throws -> (revision: Int64, at: Timestamp)? {
    let statement = try PreparedStatement(
      database, "SELECT revision, at FROM revision_time ORDER BY revision DESC LIMIT 1")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (statement.int64(0), Timestamp(milliseconds: statement.int64(1)))
  }
}
