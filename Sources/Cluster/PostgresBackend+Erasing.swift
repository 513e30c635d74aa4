internal import PostgreSQL

extension PostgresBackend {
  /// The names of relations that are dropped; others in the schema are not Larder's.
  private static let ownNames =
    "^(version|lease|log|log_[0-9]+|inbox|inbox_number|node|snapshot|snapshot_id|snapshot_[0-9]+)$"

  package func erase() async throws(ClusterError) {
    let schema = schema
    let isErased = try await run { session, deadline throws(PostgresError) in
      try session.transaction(deadline) { () throws(PostgresError) in
        _ = try session.query(
          "SELECT pg_advisory_xact_lock($1)", [.integer(schema.lock("tables"))], deadline: deadline)
        if try schema.foundRelations(session, deadline).contains("lease") {
          // A node that takes the lease now waits for this row, and then finds no table.
          let leases = try session.query(
            "SELECT 1 FROM \(schema.lease) WHERE until > clock_timestamp() FOR UPDATE",
            deadline: deadline)
          guard leases.rowCount == 0 else { return false }
        }
        let relations = try session.query(
          """
          SELECT quote_ident(relname), relkind = 'S' FROM pg_class
          WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
            AND relkind IN ('r', 'p', 'S') AND NOT relispartition AND relname ~ $2
          """, [.text(schema.name), .text(Self.ownNames)], deadline: deadline)
        for row in 0..<relations.rowCount {
          let kind = relations.bool(row, 1) ? "SEQUENCE" : "TABLE"
          _ = try session.query(
            "DROP \(kind) IF EXISTS \(schema.schema).\(relations.text(row, 0)) CASCADE",
            deadline: deadline)
        }
        return true
      }
    }
    guard isErased else { throw .fenced }
    try await prepare()
  }
}
