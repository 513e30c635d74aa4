package import Transport

/// Whether a pooler gives one process of the server to several sessions, one transaction each.
///
/// Such a pooler loses `LISTEN`. PgBouncer accepts it all the same, so it is found by what it shares: the process
/// of one session, outside a transaction, serves the transaction of another.
package enum PostgresPoolerCheck {
  /// Opens two sessions. A pooler with other traffic may share neither at this moment, so false is no proof.
  package static func sharesProcesses(
    _ address: PostgresAddress, deadline: LoopInstant
  ) throws(PostgresError) -> Bool {
    let limit = deadline.elapsed(since: LoopClock.now())
    let first = try PostgresSession(address, statementTimeMax: limit, deadline: deadline)
    defer { first.close() }
    guard first.isPooled else { return false }
    let second = try PostgresSession(address, statementTimeMax: limit, deadline: deadline)
    defer { second.close() }
    let before = try processID(first, deadline)
    _ = try second.query("BEGIN", deadline: deadline)
    let other = try processID(second, deadline)
    let after = try processID(first, deadline)
    _ = try second.query("COMMIT", deadline: deadline)
    return other == before || after != before
  }

  private static func processID(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> Int64 {
    let result = try session.query("SELECT pg_backend_pid()::int8", deadline: deadline)
    return result.integer(0, 0)
  }
}
