internal import PostgreSQL
internal import Transport

extension PostgresBackend {
  /// Rows of one response, so that small ones do not add up to a long list.
  private static let rowsMax: Int64 = 1000
  /// How long the removal of old rows waits for readers. Appends wait behind it.
  private static let dropWait = "50ms"

  package func head() async throws(ClusterError) -> LogHead {
    let sql = """
      SELECT position, epoch, (SELECT min(position) FROM \(schema.log))
      FROM \(schema.log) ORDER BY position DESC LIMIT 1
      """
    let head: LogHead? = try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, name: "head", deadline: deadline)
      guard rows.rowCount == 1 else { return nil }
      return LogHead(
        position: rows.integer(0, 0), floor: max(0, rows.integer(0, 2) - 1),
        epoch: rows.integer(0, 1))
    }
    guard let head else { throw .faulty(Self.lossFault(["the rows of its log"])) }
    return head
  }

  package func rows(
    after position: Int64, bytesMax: Int
  ) async throws(ClusterError) -> [LogRow] {
    // The lengths are known without reading the payloads.
    let sql = """
      SELECT position, epoch, payload FROM (
        SELECT position, epoch, payload,
          sum(octet_length(payload)) OVER (ORDER BY position) - octet_length(payload) AS bytes_before
        FROM (SELECT position, epoch, payload FROM \(schema.log) WHERE position > $1
          ORDER BY position LIMIT \(Self.rowsMax)) AS next
      ) AS summed WHERE bytes_before < $2 OR position = $1 + 1 ORDER BY position
      """
    let promised = doorbell.logEnd
    let found = try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(
        sql, [.integer(position), .integer(Int64(bytesMax))], name: "rows", deadline: deadline)
      return (0..<rows.rowCount).map { row in
        LogRow(
          position: rows.integer(row, 0), epoch: rows.integer(row, 1),
          payload: rows.bytes(row, 2))
      }
    }
    guard let first = found.first else {
      // Of a log that ends earlier than was said, as after a restore of PostgreSQL.
      doorbell.correct(logEnd: promised, to: position)
      return []
    }
    for (index, row) in found.enumerated() where row.position != position + 1 + Int64(index) {
      throw .faulty(
        index == 0
          ? "the log begins at position \(first.position), and the rows after \(position) were "
            + "removed: start from a snapshot"
          : "the log has no row \(position + 1 + Int64(index)), but later ones")
    }
    return found
  }

  package func appender(of lease: Lease) throws(ClusterError) -> any LogAppender {
    PostgresAppender(
      address, schema, lease, deadline: settings.deadline, doorbell: doorbell)
  }

  /// Drops whole partitions, so nothing is left to vacuum. Rows stay until all of their partition can go.
  package func trim(upTo position: Int64) async throws(ClusterError) {
    let schema = schema
    // The end of each partition but the last: it has the last row, even if that is the end of its range.
    let list = """
      SELECT substring(child.relname FROM 5)::int8 FROM pg_inherits
      JOIN pg_class AS child ON child.oid = inhrelid
      WHERE inhparent = to_regclass($1) AND child.relname ~ '^log_[0-9]+$' ORDER BY 1
      """
    try await run { session, deadline throws(PostgresError) in
      let size = try schema.foundPartitionRows(session, deadline)
      let head = try session.query("SELECT max(position) FROM \(schema.log)", deadline: deadline)
      let last = min(position, head.integer(0, 0) - 1)
      let rows = try session.query(list, [.text(schema.log)], deadline: deadline)
      for index in (0..<rows.rowCount).map({ rows.integer($0, 0) })
      where (index + 1) * size - 1 <= last {
        try session.transaction(deadline) { () throws(PostgresError) in
          _ = try session.query("SET LOCAL lock_timeout = '\(Self.dropWait)'", deadline: deadline)
          _ = try session.query("DROP TABLE \(schema.partition(index))", deadline: deadline)
        }
      }
    }
  }

  package func waitForRows(after position: Int64, atMost limit: Duration) async {
    await doorbell.waitForLog(after: position, atMost: limit)
  }
}

extension ClusterSchema {
  /// The rows of each partition of the log, as the tables were made.
  func foundPartitionRows(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> Int64 {
    let rows = try session.query("SELECT log_partition FROM \(versions)", deadline: deadline)
    return rows.rowCount == 1 ? max(1, rows.integer(0, 0)) : Self.rowsPerPartition
  }
}
