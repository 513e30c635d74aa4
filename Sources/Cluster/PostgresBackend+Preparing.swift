internal import PostgreSQL
internal import Transport

extension PostgresBackend {
  package func prepare() async throws(ClusterError) {
    let (schema, address) = (schema, address)
    let rowsPerPartition = settings.rowsPerPartition
    let found = try await run { session, deadline throws(PostgresError) in
      if let version = try schema.foundVersion(session, deadline) { return version }
      try schema.create(session, rowsPerPartition: rowsPerPartition, deadline)
      return ClusterSchema.version
    }
    if found > ClusterSchema.version {
      throw .faulty(
        "the cluster's tables have version \(found), and this version of Larder knows "
          + "\(ClusterSchema.version): upgrade Larder on this node")
    }
    let sharesProcesses = try await run { _, deadline throws(PostgresError) in
      try PostgresPoolerCheck.sharesProcesses(address, deadline: deadline)
    }
    if sharesProcesses { throw .faulty(Self.poolerFault) }
  }

  package func identity() async throws(ClusterError) -> String {
    let schema = schema
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query("SELECT cluster FROM \(schema.versions)", deadline: deadline)
      return rows.text(0, 0)
    }
  }

  static let poolerFault =
    "a pooler in transaction mode is between this node and PostgreSQL, and loses notifications: "
    + "set `cluster.postgres` to PostgreSQL itself, or to a pool in session mode"
}

extension ClusterSchema {
  /// The version of the tables; nil if there are none.
  func foundVersion(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> Int64? {
    // Not to_regclass: it can answer from the session's cache of names, which does not learn what another node
    // has committed meanwhile. Reading the catalogue does.
    let found = try session.query(
      "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relname = 'version'", [.text(name)], deadline: deadline)
    guard found.rowCount == 1 else { return nil }
    let rows = try session.query("SELECT number FROM \(versions)", deadline: deadline)
    return rows.rowCount == 1 ? rows.integer(0, 0) : nil
  }

  /// Creates the tables, or waits until another node has created them.
  func create(
    _ session: PostgresSession, rowsPerPartition: Int64, _ deadline: LoopInstant
  ) throws(PostgresError) {
    try session.transaction(deadline) { () throws(PostgresError) in
      _ = try session.query(
        "SELECT pg_advisory_xact_lock($1)", [.integer(lock("tables"))], deadline: deadline)
      // Each statement sees what was committed before it, so also what another node has made meanwhile.
      if try foundVersion(session, deadline) != nil { return }
      let exists = try session.query(
        "SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(name)], deadline: deadline)
      // `IF NOT EXISTS` demands the right to create schemas even where it does nothing.
      if exists.rowCount == 0 {
        _ = try session.query("CREATE SCHEMA \(schema)", deadline: deadline)
      }
      for statement in creation(rowsPerPartition: rowsPerPartition) {
        _ = try session.query(statement, deadline: deadline)
      }
    }
  }
}

extension PostgresSession {
  /// Runs `body` in one transaction. If it throws, the session is of no further use, and its end rolls back.
  func transaction<Value>(
    _ deadline: LoopInstant, _ body: () throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    _ = try query("BEGIN", deadline: deadline)
    do throws(PostgresError) {
      let value = try body()
      _ = try query("COMMIT", deadline: deadline)
      return value
    } catch {
      close()
      throw error
    }
  }
}
