import GRDB
import Model

extension EvictionPass {
  private static let changesAtATime = 64

  private struct Gone {
    let place: TombstoneSweep.Place
    /// Nil where the entity has changed since.
    let kind: ChangeKind?
  }

  /// Removes old deletions and raises the floor over them; forgets old evicted entities, which no
  /// cursor is told of.
  func sweepTombstones(
    after last: TombstoneSweep.Place, olderThan deadline: Timestamp
  ) throws {
    let revision = try RevisionTimes(database).lastRevision(by: deadline)
    let gone = try changes(after: last, upTo: revision)
    for change in gone {
      try expire(change)
      phase = .tombstones(after: change.place)
      if work.isSpent { return }
    }
    guard gone.count < Self.changesAtATime else { return }
    try RevisionTimes(database).forget(before: revision)
    phase = .firstOfInvalidations
  }

  private func expire(_ change: Gone) throws {
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
  ) throws -> [Gone] {
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
    var gone: [Gone] = []
    while try statement.step() {
      gone.append(
        Gone(
          place: .init(
            revision: statement.int64(0), scope: statement.int64(1), type: statement.int64(2),
            key: statement.string(3)),
          kind: statement.optionalInt64(4).flatMap(ChangeKind.init)))
    }
    statement.reset()
    return gone
  }

  /// A tombstone that still hides something, or that a late answer may still be judged against,
  /// stays until a later pass.
  ///
  /// - Returns: whether no row is left.
  private func removeTombstone(of place: TombstoneSweep.Place) throws -> Bool {
    guard let table = tables.first(where: { $0.table.id == place.type }),
      let row = try StoredRow.find(place.key, scope: place.scope, table.table, database)
    else { return true }
    guard row.fields == nil, max(row.call, row.barrier) <= horizon,
      try !ScopeLayers(database).shows(place.key, under: place.scope, table)
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
