internal import PostgreSQL

extension PostgresBackend {
  package func beat(_ me: NodeRecord) async throws(ClusterError) {
    let sql = """
      INSERT INTO \(schema.nodes) AS node
        (id, url, position, version, digest, candidate, place, seen)
      VALUES ($1, $2, $3, $4, $5, $6 = 1, $7, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET url = excluded.url, position = excluded.position,
        version = excluded.version, digest = excluded.digest, candidate = excluded.candidate,
        place = excluded.place, seen = excluded.seen
      WHERE node.place IN ('', $7) OR $7 = ''
        OR node.seen < clock_timestamp() - $8 * interval '1 microsecond'
      """
    let other = "SELECT url FROM \(schema.nodes) WHERE id = $1"
    let liveFor = settings.nodeLiveFor.wholeMicroseconds
    let twin: String? = try await run { session, deadline throws(PostgresError) in
      let written = try session.query(
        sql,
        [
          .text(me.id.text), .text(me.url), .integer(me.position), .text(me.version),
          .text(me.digest), .integer(me.isCandidate ? 1 : 0), .text(me.place), .integer(liveFor),
        ], name: "beat", deadline: deadline)
      if written.affectedRows == 1 { return nil }
      let rows = try session.query(other, [.text(me.id.text)], deadline: deadline)
      return rows.rowCount == 1 ? rows.text(0, 0) : ""
    }
    if let twin { throw .twin(url: twin) }
  }

  package func nodes() async throws(ClusterError) -> [NodeRecord] {
    let sql = """
      SELECT id, url, position, version, digest, candidate, place,
        greatest(0, extract(epoch FROM clock_timestamp() - seen) * 1000000)::int8
      FROM \(schema.nodes) ORDER BY id COLLATE "C"
      """
    let liveFor = settings.nodeLiveFor
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, name: "nodes", deadline: deadline)
      return (0..<rows.rowCount).map { row in
        let seenAgo = Duration.microseconds(rows.integer(row, 7))
        return NodeRecord(
          id: NodeID(rows.text(row, 0)), url: rows.text(row, 1), position: rows.integer(row, 2),
          version: rows.text(row, 3), digest: rows.text(row, 4), isCandidate: rows.bool(row, 5),
          place: rows.text(row, 6), seenAgo: seenAgo, isLive: seenAgo <= liveFor)
      }
    }
  }

  package func remove(_ id: NodeID) async throws(ClusterError) {
    let sql = "DELETE FROM \(schema.nodes) WHERE id = $1"
    try await run { session, deadline throws(PostgresError) in
      _ = try session.query(sql, [.text(id.text)], deadline: deadline)
    }
  }
}
