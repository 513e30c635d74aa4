internal import PostgreSQL

extension PostgresBackend {
  package func lease() async throws(ClusterError) -> Lease? {
    let sql = """
      SELECT epoch, node, url, digest, \(Self.timeLeft) FROM \(schema.lease)
      WHERE until > now()
      """
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, name: "lease", deadline: deadline)
      guard rows.rowCount == 1 else { return nil }
      return Lease(
        epoch: rows.integer(0, 0), holder: NodeID(rows.text(0, 1)), url: rows.text(0, 2),
        digest: rows.text(0, 3), validFor: .microseconds(rows.integer(0, 4)))
    }
  }

  package func take(
    _ me: NodeRecord, for duration: Duration
  ) async throws(ClusterError) -> Lease? {
    // The time is read when the row is locked, not when the transaction begins: it may wait for an append.
    let sql = """
      UPDATE \(schema.lease)
      SET epoch = epoch + 1, node = $1, url = $2, digest = $3, length = $4 * interval '1 microsecond',
        until = clock_timestamp() + $4 * interval '1 microsecond', heir = NULL, heir_until = NULL
      WHERE (until > now() AND node = $1)
        OR (until <= now() AND (heir IS NULL OR heir = $1 OR heir_until <= now()))
      RETURNING epoch, \(Self.timeLeft)
      """
    let length = duration.wholeMicroseconds
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(
        sql, [.text(me.id.text), .text(me.url), .text(me.digest), .integer(length)], name: "take",
        deadline: deadline)
      guard rows.rowCount == 1 else { return nil }
      return Lease(
        epoch: rows.integer(0, 0), holder: me.id, url: me.url, digest: me.digest,
        validFor: .microseconds(rows.integer(0, 1)))
    }
  }

  package func renew(
    _ lease: Lease, for duration: Duration
  ) async throws(ClusterError) -> Bool {
    let sql = """
      UPDATE \(schema.lease) SET length = $3 * interval '1 microsecond',
        until = clock_timestamp() + $3 * interval '1 microsecond'
      WHERE epoch = $1 AND node = $2
      """
    let length = duration.wholeMicroseconds
    return try await run { session, deadline throws(PostgresError) in
      try session.query(
        sql, [.integer(lease.epoch), .text(lease.holder.text), .integer(length)], name: "renew",
        deadline: deadline
      ).affectedRows == 1
    }
  }

  package func release(_ lease: Lease, to heir: NodeID?) async throws(ClusterError) {
    // No node has an empty id, so nothing renews it.
    let sql = """
      UPDATE \(schema.lease)
      SET node = '', until = '-infinity', heir = $3, heir_until = clock_timestamp() + length
      WHERE epoch = $1 AND node = $2
      """
    let heir: PostgresValue = heir.map { .text($0.text) } ?? .null
    try await run { session, deadline throws(PostgresError) in
      _ = try session.query(
        sql, [.integer(lease.epoch), .text(lease.holder.text), heir], deadline: deadline)
    }
    doorbell.ringForLease()
  }

  package func succession() async throws(ClusterError) -> Succession {
    let sql = """
      SELECT digest, CASE WHEN heir_until > clock_timestamp() THEN heir END FROM \(schema.lease)
      """
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, name: "succession", deadline: deadline)
      guard rows.rowCount == 1 else { return Succession(digest: "", heir: nil) }
      return Succession(
        digest: rows.text(0, 0), heir: rows.isNull(0, 1) ? nil : NodeID(rows.text(0, 1)))
    }
  }

  private static let timeLeft =
    "greatest(0, extract(epoch FROM until - clock_timestamp()) * 1000000)::int8"
}

extension Duration {
  /// At least 0.
  var wholeMicroseconds: Int64 { max(0, Int64((self / .microseconds(1)).rounded())) }
}
