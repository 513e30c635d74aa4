import GRDB

/// The order in which invalidations are looked at: that of their table.
enum InvalidationSweep {
  struct Place: Equatable {
    var kind: Int64
    var name: String
    var scope: Int64
  }
}

extension EvictionPass {
  private static let invalidationsAtATime = 128

  /// Removes marks that nothing can be due by any more: every result there is began later, and so
  /// did every call in flight.
  func sweepInvalidations(after last: InvalidationSweep.Place) throws {
    let statement = try PreparedStatement(
      database,
      """
      SELECT kind, name, scope, call FROM invalidation \
      WHERE (kind, name, scope) > (?1, ?2, ?3) ORDER BY kind, name, scope LIMIT ?4
      """)
    statement.bind(last.kind, at: 1)
    statement.bind(last.name, at: 2)
    statement.bind(last.scope, at: 3)
    statement.bind(Int64(Self.invalidationsAtATime), at: 4)
    var seen: [(place: InvalidationSweep.Place, call: Int64)] = []
    while try statement.step() {
      let place = InvalidationSweep.Place(
        kind: statement.int64(0), name: statement.string(1), scope: statement.int64(2))
      seen.append((place, statement.int64(3)))
    }
    statement.reset()
    for (place, call) in seen {
      work.spend(EvictionWork.look)
      if call <= oldestCall { try remove(place) }
      phase = .invalidations(after: place)
      if work.isSpent { return }
    }
    if seen.count < Self.invalidationsAtATime { phase = .finished }
  }

  private func remove(_ place: InvalidationSweep.Place) throws {
    work.spend(EvictionWork.remove)
    let statement = try PreparedStatement(
      database, "DELETE FROM invalidation WHERE kind = ?1 AND name = ?2 AND scope = ?3")
    statement.bind(place.kind, at: 1)
    statement.bind(place.name, at: 2)
    statement.bind(place.scope, at: 3)
    try statement.run()
  }
}
