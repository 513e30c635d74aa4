import GRDB
import Model

extension EvictionPass {
  private static let resultsAtATime = 128

  private struct Seen {
    let id: Int64
    let operation: String
    let received: Timestamp
    let call: Int64
  }

  /// Removes results that no window serves and marks the others. A result that a call in flight can still
  /// write to stays, whatever its age: the order rule compares that call's response with its row.
  func sweepResults(
    after last: Int64, _ policy: EvictionPolicy, at time: Timestamp
  ) throws {
    let seen = try results(after: last)
    for result in seen {
      work.spend(EvictionWork.look)
      // Stored while the clock was ahead: it would be served and kept until the clock catches up.
      if time.distance(to: result.received) > Self.aheadMax {
        try setReceived(of: result.id, to: time)
      }
      let isServed = policy.serves(result.operation, received: result.received, at: time)
      if !isServed, result.call <= horizon {
        try remove(result.id)
      } else {
        oldestCall = min(oldestCall, result.call)
        marks?.mark(RowPlace(type: RowPlace.resultType, row: result.id))
      }
      phase = .results(after: result.id)
      if work.isSpent { return }
    }
    if seen.count < Self.resultsAtATime { phase = .tracing }
  }

  private func results(after last: Int64) throws -> [Seen] {
    let statement = try PreparedStatement(
      database,
      "SELECT id, operation, received, call FROM result WHERE id > ?1 ORDER BY id LIMIT ?2")
    statement.bind(last, at: 1)
    statement.bind(Int64(Self.resultsAtATime), at: 2)
    var seen: [Seen] = []
    while try statement.step() {
      seen.append(
        Seen(
          id: statement.int64(0), operation: statement.string(1),
          received: Timestamp(milliseconds: statement.int64(2)), call: statement.int64(3)))
    }
    statement.reset()
    return seen
  }

  /// The tolerated difference between clocks.
  private static let aheadMax = Duration.seconds(60)

  private func setReceived(of id: Int64, to time: Timestamp) throws {
    let statement = try PreparedStatement(
      database, "UPDATE result SET received = ?2 WHERE id = ?1")
    statement.bind(id, at: 1)
    statement.bind(time.milliseconds, at: 2)
    try statement.run()
  }

  /// Removes a result; its dependencies are removed with it.
  private func remove(_ id: Int64) throws {
    let statement = try PreparedStatement(database, "DELETE FROM result WHERE id = ?1")
    statement.bind(id, at: 1)
    try statement.run()
    work.spend(EvictionWork.remove)
    report.results += 1
  }
}

/// The order in which invalidations are swept: the primary key of their table.
enum InvalidationSweep {
  struct Place: Equatable {
    var kind: Int64
    var name: String
    var scope: Int64
  }
}

extension EvictionPass {
  private static let invalidationsAtATime = 128

  /// Removes invalidations that no longer make anything stale: all stored results and all calls in flight
  /// began later.
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
