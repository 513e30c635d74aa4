import Foundation
import Logging
import PostgreSQL
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Cluster

/// What is particular to PostgreSQL: its tables, its settings, and the errors that a team reads.
@Suite(.enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whyNot)"))
struct PostgresBackendTests {
  private var soon: LoopInstant { LoopClock.now() + .seconds(30) }

  private func session(_ connection: String) throws -> PostgresSession {
    try PostgresSession(
      PostgresAddress(connection), statementTimeMax: .seconds(30), deadline: soon)
  }

  private func run(_ session: PostgresSession, _ statements: String...) throws {
    for statement in statements { _ = try session.query(statement, deadline: soon) }
  }

  @Test("Tables of a later version are refused, with what to do")
  func laterVersions() async throws {
    let server = try await CommonServer.shared.server()
    let backend = try PostgresBackend.test(server.connection, cluster: "later")
    try await backend.prepare()
    try run(try session(server.connection), "UPDATE larder_later.version SET number = 2")
    let refusal = await failure { () throws(ClusterError) in try await backend.prepare() }
    #expect(
      refusal?.faultText
        == "the cluster's tables have version 2, and this version of Larder knows 1: upgrade Larder "
        + "on this node")
    let findings = try await backend.findings()
    #expect(findings.contains { $0.severity == .problem && $0.text.contains("have version 2") })
    await backend.close()
  }

  @Test(
    "Lost tables that can be made again are, and numbers go on",
    arguments: ["inbox", "node", "snapshot"])
  func repairs(table: String) async throws {
    let server = try await CommonServer.shared.server()
    let name = "repair_\(table)"
    let backend = try PostgresBackend.test(server.connection, cluster: name)
    try await backend.prepare()
    let lease = try #require(try await backend.take(.test("a"), for: .seconds(600)))
    try backend.appender(of: lease).append([1], at: 1)
    let entry = InboxEntry(device: "d", key: "k", body: [1])
    let before = try #require(try await backend.submit([entry]).first).number
    let session = try session(server.connection)
    let sequence = table == "inbox" ? "inbox_number" : "snapshot_id"
    try run(
      session, "DROP TABLE larder_\(name).\(table)", "DROP SEQUENCE larder_\(name).\(sequence)")
    let found = try await backend.findings().filter { $0.severity == .problem }
    #expect(found.contains { $0.text.contains("has lost `\(table)`") }, "\(found)")
    if table == "inbox" {
      let refusal = await failure { () throws(ClusterError) in try await backend.submit([entry]) }
      #expect(refusal?.faultText?.contains("larder doctor") == true)
    }
    let other = try PostgresBackend.test(server.connection, cluster: name)
    try await other.prepare()
    try await other.beat(.test("a"))
    #expect(try await other.latestSnapshot() == nil)
    let after = try #require(
      try await other.submit([InboxEntry(device: "d", key: "k2", body: [1])]).first
    ).number
    #expect(after > before)
    #expect(try await other.head().position == 1)
    #expect(try await other.losses().isEmpty)
    await backend.close()
    await other.close()
  }

  @Test(
    "Tables that cannot be made again are a fault with the way out, and erasing is that way",
    arguments: [
      "DROP TABLE $.version", "DROP TABLE $.lease", "DROP TABLE $.log", "TRUNCATE $.log",
      "TRUNCATE $.lease", "TRUNCATE $.version", "DROP TABLE $.version, $.lease, $.log",
    ])
  func losses(statement: String) async throws {
    let server = try await CommonServer.shared.server()
    let name = "lost_\(UInt32.random(in: 0...UInt32.max))"
    let backend = try PostgresBackend.test(server.connection, cluster: name)
    try await backend.prepare()
    let identity = try await backend.identity()
    try run(
      try session(server.connection), statement.replacing("$", with: "larder_\(name)"))
    #expect(try await !backend.losses().isEmpty)
    let found = try await backend.findings().filter { $0.severity == .problem }
    #expect(found.contains { $0.text.contains("larder cluster import --replace") }, "\(found)")
    if statement != "TRUNCATE $.log", statement != "TRUNCATE $.lease" {
      let refusal = await failure { () throws(ClusterError) in try await backend.prepare() }
      #expect(refusal?.faultText?.contains("larder cluster import --replace") == true)
    }
    if statement == "TRUNCATE $.log" {
      let refusal = await failure { () throws(ClusterError) in try await backend.head() }
      #expect(refusal?.faultText?.contains("larder cluster import --replace") == true)
    }
    try await backend.erase()
    #expect(try await backend.losses().isEmpty)
    #expect(try await backend.identity() != identity)
    #expect(try await backend.head().position == 0)
    await backend.close()
  }

  @Test("Tables of the release before are completed, and its nodes go on")
  func addsColumns() async throws {
    let server = try await CommonServer.shared.server()
    let backend = try PostgresBackend.test(server.connection, cluster: "former")
    try await backend.prepare()
    let session = try session(server.connection)
    try run(session, "ALTER TABLE larder_former.node DROP COLUMN place")
    let again = try PostgresBackend.test(server.connection, cluster: "former")
    try await again.prepare()
    // As the release before writes it.
    try run(
      session,
      "INSERT INTO larder_former.node (id, url, position, version, digest, candidate, seen) "
        + "VALUES ('old', 'http://old', 1, '1', 'd', true, now())")
    try await again.beat(.test("new", place: "p"))
    #expect(try await again.nodes().map(\.place) == ["p", ""])
    await backend.close()
    await again.close()
  }

  @Test("A role without the right to create the schema gets to know which right")
  func missingRights() async throws {
    let server = try await CommonServer.shared.server()
    let admin = try session(server.connection)
    try run(
      admin, "CREATE ROLE reader LOGIN", "CREATE ROLE owner LOGIN",
      "CREATE SCHEMA larder_given AUTHORIZATION owner")
    let reader =
      server.connection.split(separator: " ").filter { !$0.hasPrefix("user=") }
      .joined(separator: " ") + " user=reader"
    let refused = try PostgresBackend.test(reader, cluster: "refused")
    let refusal = await failure { () throws(ClusterError) in try await refused.prepare() }
    #expect(refusal?.faultText?.contains("grant it CREATE on the database") == true)
    let findings = try await refused.findings()
    #expect(findings.contains { $0.severity == .problem && $0.text.contains("cannot create") })
    await refused.close()

    // The owner of a schema that is there needs no right on the database.
    let owner = try PostgresBackend.test(
      reader.replacing("user=reader", with: "user=owner"), cluster: "given")
    try await owner.prepare()
    #expect(try await owner.head().position == 0)
    await owner.close()

    // A role that may read the tables and not write them.
    try run(
      admin, "GRANT USAGE ON SCHEMA larder_given TO reader",
      "GRANT SELECT ON ALL TABLES IN SCHEMA larder_given TO reader")
    let other = try PostgresBackend.test(reader, cluster: "given")
    #expect(try await other.head().position == 0)
    let beat = await failure { () throws(ClusterError) in try await other.beat(.test("a")) }
    #expect(beat?.faultText?.contains("make it the owner") == true)
    await other.close()
  }

  @Test("Missing tables are reported, with what to do")
  func missingTables() async throws {
    let server = try await CommonServer.shared.server()
    let backend = try PostgresBackend.test(server.connection, cluster: "missing")
    let missing = await failure { () throws(ClusterError) in try await backend.head() }
    #expect(missing?.faultText?.contains("`larder doctor` says which") == true)
    await backend.close()
  }

  @Test(
    "A cluster's name that cannot be a schema's is refused",
    arguments: ["", "A", "a b", "a\"b", "é", String(repeating: "a", count: 41)])
  func clusterNames(name: String) throws {
    #expect(throws: ClusterError.self) {
      _ = try PostgresBackend.test("host=/tmp", cluster: name)
    }
  }

  @Test("Settings that lose commits are found, and a server without them has no findings")
  func settingsAreFound() async throws {
    let good = try await PostgresServer(options: ["fsync=on"])
    let sound = try PostgresBackend.test(good.connection)
    #expect(try await sound.findings() == [])
    try await sound.prepare()
    #expect(try await sound.findings() == [])
    await sound.close()

    let bad = try await PostgresServer(
      options: ["fsync=off", "full_page_writes=off", "synchronous_commit=off"])
    let risky = try PostgresBackend.test(bad.connection)
    let texts = try await risky.findings().map { "\($0.severity): \($0.text)" }
    #expect(texts.contains { $0.hasPrefix("problem: ") && $0.contains("`fsync = off`") })
    #expect(texts.contains { $0.hasPrefix("warning: ") && $0.contains("`full_page_writes = off`") })
    #expect(
      texts.contains { $0.hasPrefix("problem: ") && $0.contains("`synchronous_commit = off`") })
    #expect(texts.count == 3, "\(texts)")
    await risky.close()
  }

  @Test("A database of another encoding is found")
  func otherEncodings() async throws {
    let server = try await CommonServer.shared.server()
    try run(
      try session(server.connection),
      "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    let connection = server.connection.replacing("dbname=postgres", with: "dbname=latin")
    let backend = try PostgresBackend.test(connection)
    let findings = try await backend.findings()
    #expect(findings.contains { $0.severity == .problem && $0.text.contains("LATIN1") })
    await backend.close()
  }

  @Test("Two clusters in one database do not see each other")
  func clustersAreApart() async throws {
    let server = try await CommonServer.shared.server()
    let a = try PostgresBackend.test(server.connection, cluster: "apart-a")
    let b = try PostgresBackend.test(server.connection, cluster: "apart-b")
    try await a.prepare()
    try await b.prepare()
    let lease = try #require(try await a.take(.test("n"), for: .seconds(600)))
    try a.appender(of: lease).append([1], at: 1)
    _ = try await a.submit([InboxEntry(device: "d", key: "k", body: [])])
    #expect(try await b.lease() == nil)
    #expect(try await b.head().position == 0)
    #expect(try await b.inboxState().count == 0)
    let other = try #require(try await b.take(.test("n"), for: .seconds(600)))
    #expect(other.epoch == 1)
    await a.close()
    await b.close()
  }

  @Test("Removed rows leave no partition behind, and new ones are made as the log grows")
  func partitions() async throws {
    let server = try await CommonServer.shared.server()
    let backend = try PostgresBackend.test(server.connection, cluster: "parts", rowsPerPartition: 4)
    try await backend.prepare()
    // What the tables were made with counts, not what a node says.
    let other = try PostgresBackend.test(
      server.connection, cluster: "parts", rowsPerPartition: 1000)
    let lease = try #require(try await other.take(.test("n"), for: .seconds(600)))
    let appender = try other.appender(of: lease)
    for position in 1...21 as ClosedRange<Int64> { try appender.append([1], at: position) }
    let session = try session(server.connection)
    func tables() throws -> Int64 {
      try session.query(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'larder_parts' AND tablename ~ '^log_'",
        deadline: soon
      ).integer(0, 0)
    }
    #expect(try tables() == 6)
    try await other.trim(upTo: 11)
    #expect(try tables() == 3)
    #expect(try await backend.head() == LogHead(position: 21, floor: 11, epoch: 1))
    try await other.trim(upTo: 21)
    #expect(try tables() == 1)
    #expect(try await backend.rows(after: 19, bytesMax: 100).map(\.position) == [20, 21])
    await backend.close()
    await other.close()
  }

  @Test("Chunks that an interrupted snapshot left are removed with the next one")
  func leftoverChunks() async throws {
    let folder = try TestFolder("leftover")
    defer { folder.remove() }
    try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/file"))
    let server = try await CommonServer.shared.server()
    let backend = try PostgresBackend.test(server.connection, cluster: "left")
    try await backend.prepare()
    let session = try session(server.connection)
    // As a process that is killed in between leaves it.
    try run(
      session, "SELECT nextval('larder_left.snapshot_id')",
      "CREATE TABLE larder_left.snapshot_1 (number int8, bytes bytea)")
    _ = try await backend.putSnapshot(position: 1, file: "\(folder.path)/file", version: "1")
    let rows = try session.query(
      "SELECT tablename::text FROM pg_tables WHERE tablename ~ '^snapshot_[0-9]' "
        + "AND schemaname = 'larder_left'", deadline: soon)
    let names = (0..<rows.rowCount).map { rows.text($0, 0) }
    #expect(names == ["snapshot_2"])
    await backend.close()
  }
}
