internal import Model
internal import PostgreSQL

extension PostgresBackend {
  private static let columns = "number, device, key, body, (extract(epoch FROM at) * 1000)::int8"

  package func submit(_ entries: [InboxEntry]) async throws(ClusterError) -> [InboxReceipt] {
    let receipts = try await submissions.submit(entries)
    let new = receipts.lazy.filter(\.isNew).map(\.number).max()
    if let new { doorbell.ring(inboxEnd: new) }
    return receipts
  }

  package func inbox(
    after number: Int64, limit: Int
  ) async throws(ClusterError) -> [InboxEntry] {
    let promised = doorbell.inboxEnd
    let entries = try await inboxEntries(
      "WHERE number > $1 ORDER BY number LIMIT $2", [.integer(number), .integer(Int64(limit))],
      name: "inbox")
    if entries.isEmpty { doorbell.correct(inboxEnd: promised, to: number) }
    return entries
  }

  package func inbox(of device: String) async throws(ClusterError) -> [InboxEntry] {
    guard !device.utf8.contains(0) else { return [] }
    return try await inboxEntries(
      "WHERE device = $1 ORDER BY number", [.text(device)], name: "inbox of a device")
  }

  private func inboxEntries(
    _ condition: String, _ parameters: [PostgresValue], name: String
  ) async throws(ClusterError) -> [InboxEntry] {
    let sql = "SELECT \(Self.columns) FROM \(schema.inbox) \(condition)"
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, parameters, name: name, deadline: deadline)
      return (0..<rows.rowCount).map { row in
        InboxEntry(
          number: rows.integer(row, 0), device: rows.text(row, 1), key: rows.text(row, 2),
          body: rows.bytes(row, 3), at: Timestamp(milliseconds: rows.integer(row, 4)))
      }
    }
  }

  package func inboxState() async throws(ClusterError) -> InboxState {
    let sql = """
      SELECT count(*), (SELECT CASE WHEN is_called THEN last_value ELSE 0 END
          FROM \(schema.inboxNumber)),
        (extract(epoch FROM clock_timestamp() - min(at)) * 1000000)::int8
      FROM \(schema.inbox)
      """
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, name: "inbox state", deadline: deadline)
      return InboxState(
        count: Int(rows.integer(0, 0)), lastNumber: rows.integer(0, 1),
        oldestAge: rows.isNull(0, 2) ? nil : .microseconds(max(0, rows.integer(0, 2))))
    }
  }

  package func removeInbox(_ numbers: [Int64]) async throws(ClusterError) {
    if numbers.isEmpty { return }
    let sql = "DELETE FROM \(schema.inbox) WHERE number = ANY($1)"
    try await run { session, deadline throws(PostgresError) in
      _ = try session.query(
        sql, [.integers(numbers)], name: "remove from the inbox", deadline: deadline)
    }
  }

  package func waitForInbox(after number: Int64, atMost limit: Duration) async {
    await doorbell.waitForInbox(after: number, atMost: limit)
  }
}
