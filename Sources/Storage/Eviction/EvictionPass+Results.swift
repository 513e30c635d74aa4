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

  /// A result that a call in flight may still write to stays, whatever its age: its row is what
  /// that call's answer is judged against.
  func sweepResults(
    after last: Int64, _ policy: EvictionPolicy, at time: Timestamp
  ) throws {
    let seen = try results(after: last)
    for result in seen {
      work.spend(EvictionWork.look)
      // Stored while the clock was ahead: it would be served, and stay, until the clock gets there.
      if time.distance(to: result.received) > Self.aheadMax { try date(result.id, at: time) }
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

  /// What clocks differ by.
  private static let aheadMax = Duration.seconds(60)

  private func date(_ id: Int64, at time: Timestamp) throws {
    let statement = try PreparedStatement(
      database, "UPDATE result SET received = ?2 WHERE id = ?1")
    statement.bind(id, at: 1)
    statement.bind(time.milliseconds, at: 2)
    try statement.run()
  }

  /// Its dependencies go with it.
  private func remove(_ id: Int64) throws {
    let statement = try PreparedStatement(database, "DELETE FROM result WHERE id = ?1")
    statement.bind(id, at: 1)
    try statement.run()
    work.spend(EvictionWork.remove)
    report.results += 1
  }
}
