internal import PostgreSQL
internal import Transport

extension PostgresBackend {
  package func prepare() async throws(ClusterError) {
    let (schema, address) = (schema, address)
    let rowsPerPartition = settings.rowsPerPartition
    let (missing, found) = try await run { session, deadline throws(PostgresError) in
      var relations = try schema.foundRelations(session, deadline)
      if relations.isDisjoint(with: schema.names) {
        try schema.create(session, rowsPerPartition: rowsPerPartition, deadline)
        relations = try schema.foundRelations(session, deadline)
      }
      let missing = ClusterSchema.irreplaceable.filter { !relations.contains($0) }
      guard missing.isEmpty else { return (missing, ClusterSchema.version) }
      let found = try schema.foundVersion(session, deadline) ?? 0
      if found == ClusterSchema.version { try schema.complete(session, relations, deadline) }
      return (missing, found)
    }
    guard missing.isEmpty, found > 0 else {
      throw .faulty(Self.lossFault(missing.isEmpty ? ["version"] : missing))
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

  package func losses() async throws(ClusterError) -> [String] {
    let schema = schema
    return try await run { session, deadline throws(PostgresError) in
      try schema.losses(session, deadline)
    }
  }

  /// What an operator reads of tables that are lost, and cannot be made again.
  static func lossFault(_ tables: [String]) -> String {
    "the cluster's tables in PostgreSQL have lost \(tables.joined(separator: " and ")): restore them from a "
      + "backup of PostgreSQL, or stop all nodes and run `larder cluster import --replace` on the one that is "
      + "furthest"
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
  /// The names of the tables and sequences that are there.
  func foundRelations(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> Set<String> {
    let rows = try session.query(
      "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'S') AND NOT c.relispartition",
      [.text(name)], deadline: deadline)
    return Set((0..<rows.rowCount).map { rows.text($0, 0) })
  }

  /// See ``ClusterBackend/losses()``.
  func losses(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> [String] {
    let relations = try foundRelations(session, deadline)
    if relations.isDisjoint(with: names) { return [] }
    var lost: [String] = []
    for table in Self.irreplaceable {
      guard relations.contains(table) else {
        lost.append("the table `\(table)`")
        continue
      }
      let rows = try session.query(
        "SELECT 1 FROM \(schema).\(table) LIMIT 1", deadline: deadline)
      if rows.rowCount == 0 { lost.append("the rows of the table `\(table)`") }
    }
    return lost
  }

  /// Creates what is missing and can be, and adds the columns of this release.
  func complete(
    _ session: PostgresSession, _ found: Set<String>, _ deadline: LoopInstant
  ) throws(PostgresError) {
    let lost = repairs(at: 0).contains { !found.contains($0.name) }
    if !lost { if try hasPlaces(session, deadline) { return } }
    try session.transaction(deadline) { () throws(PostgresError) in
      _ = try session.query(
        "SELECT pg_advisory_xact_lock($1)", [.integer(lock("tables"))], deadline: deadline)
      let now = try session.query(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8", deadline: deadline)
      // Another node may have created them meanwhile.
      let found = try foundRelations(session, deadline)
      for (name, statement) in repairs(at: now.integer(0, 0)) where !found.contains(name) {
        _ = try session.query(statement, deadline: deadline)
      }
      for statement in additions { _ = try session.query(statement, deadline: deadline) }
    }
  }

  /// Whether the list of nodes has the column `place`.
  private func hasPlaces(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> Bool {
    try session.query(
      "SELECT 1 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        + "JOIN pg_namespace n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relname = 'node' AND a.attname = 'place' AND NOT a.attisdropped",
      [.text(name)], deadline: deadline
    ).rowCount == 1
  }

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
