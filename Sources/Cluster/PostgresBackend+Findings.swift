internal import PostgreSQL
internal import Transport

/// What is wrong, or worth to know, about the database of a cluster.
package struct ClusterFinding: Hashable, Sendable {
  package enum Severity: String, Hashable, Sendable {
    /// The cluster does not work, or can lose what it has acknowledged.
    case problem
    /// It works, with a risk.
    case warning
  }

  package let severity: Severity
  /// What is wrong, and what to do.
  package let text: String

  package init(_ severity: Severity, _ text: String) {
    self.severity = severity
    self.text = text
  }
}

extension PostgresBackend {
  private static let clockDifferenceMax = Duration.seconds(1)

  /// Looks at the server's version and settings, the tables, what is in between, and the clock. Changes nothing.
  /// Throws only if no connection is possible.
  package func findings() async throws(ClusterError) -> [ClusterFinding] {
    let (schema, address) = (schema, address)
    return try await run { session, deadline throws(PostgresError) in
      var findings = try Self.settingsFindings(session, deadline)
      findings += try Self.tableFindings(schema, session, deadline)
      if try PostgresPoolerCheck.sharesProcesses(address, deadline: deadline) {
        findings.append(ClusterFinding(.problem, Self.poolerFault))
      }
      if let finding = try Self.clockFinding(session, deadline) { findings.append(finding) }
      return findings
    }
  }

  private static func settingsFindings(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> [ClusterFinding] {
    let rows = try session.query(
      """
      SELECT current_setting('server_version'), current_setting('fsync'),
        current_setting('full_page_writes'), current_setting('synchronous_commit'),
        current_setting('server_encoding'), pg_is_in_recovery(),
        current_setting('synchronous_standby_names'),
        (SELECT count(*) FROM pg_stat_replication)
      """, deadline: deadline)
    var findings: [ClusterFinding] = []
    func find(_ severity: ClusterFinding.Severity, _ text: String) {
      findings.append(ClusterFinding(severity, text))
    }
    if session.serverVersion < 130_000 {
      find(.problem, "PostgreSQL is version \(rows.text(0, 0)): upgrade it to 13 or later")
    }
    if rows.text(0, 1) == "off" {
      find(
        .problem, "PostgreSQL runs with `fsync = off`: a power failure damages the log; set it on")
    }
    if rows.text(0, 2) == "off" {
      find(
        .warning,
        "PostgreSQL runs with `full_page_writes = off`: a power failure can damage the log, unless "
          + "the file system writes pages as a whole; set it on")
    }
    if rows.text(0, 3) == "off" {
      find(
        .problem,
        "PostgreSQL runs with `synchronous_commit = off`: a crash loses commits that were "
          + "acknowledged; set it on for this database or role")
    }
    if rows.text(0, 4) != "UTF8" {
      find(
        .problem,
        "the database has the encoding \(rows.text(0, 4)): create one with the encoding UTF8")
    }
    if rows.bool(0, 5) {
      find(.problem, "PostgreSQL is a standby, which cannot be written: connect to the primary")
    }
    if rows.text(0, 6).isEmpty, rows.integer(0, 7) > 0 {
      find(
        .warning,
        "PostgreSQL has standbys, and none is synchronous: promotion of one loses the last commits; "
          + "set `synchronous_standby_names`")
    }
    return findings
  }

  private static func tableFindings(
    _ schema: ClusterSchema, _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> [ClusterFinding] {
    let relations = try schema.foundRelations(session, deadline)
    guard !relations.isDisjoint(with: schema.names) else {
      let rights = try session.query(
        "SELECT has_database_privilege(current_database(), 'CREATE')", deadline: deadline)
      guard !rights.bool(0, 0) else { return [] }
      return [
        ClusterFinding(
          .problem,
          "the cluster's tables do not exist, and the role cannot create their schema "
            + "\(schema.schema): grant it CREATE on the database")
      ]
    }
    let lost = try schema.losses(session, deadline)
    if !lost.isEmpty { return [ClusterFinding(.problem, lossFault(lost))] }
    let version = try schema.foundVersion(session, deadline) ?? 0
    guard version != ClusterSchema.version else {
      return schema.repairs(at: 0).filter { !relations.contains($0.name) }.map {
        ClusterFinding(
          .problem,
          "PostgreSQL has lost `\($0.name)` of the cluster's tables: restart a node, which makes it again"
            + ($0.name == "inbox" ? "; the mutations that waited in it are lost" : ""))
      }
    }
    return [
      ClusterFinding(
        .problem,
        "the cluster's tables have version \(version), and this version of Larder knows "
          + "\(ClusterSchema.version): run the same version of Larder on all nodes")
    ]
  }

  private static func clockFinding(
    _ session: PostgresSession, _ deadline: LoopInstant
  ) throws(PostgresError) -> ClusterFinding? {
    let before = LoopClock.wallTime()
    let server = try session.query(
      "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8", deadline: deadline
    ).integer(0, 0)
    let after = LoopClock.wallTime()
    // The response was made at some moment between the two.
    let difference = Duration.milliseconds(max(before - server, server - after, 0))
    guard difference > clockDifferenceMax else { return nil }
    return ClusterFinding(
      .warning,
      "the clocks of this node and of PostgreSQL are \(difference.formattedSeconds) apart: "
        + "synchronise them; leases follow PostgreSQL's, tokens and caches this node's")
  }
}

extension Duration {
  /// `1.5 s`.
  fileprivate var formattedSeconds: String {
    let tenths = Int64((self / .milliseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
