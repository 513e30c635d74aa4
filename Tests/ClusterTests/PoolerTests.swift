import Foundation
import PostgreSQL
import TestSupport
import Testing
import Transport

@testable import Cluster

/// PgBouncer of Debian, in front of a server.
private struct PgBouncer {
  static let program = UnpackedPrograms.program("/usr/sbin/pgbouncer", of: "pgbouncer")
  static let whyNot = "needs PostgreSQL's server and PgBouncer: Scripts/setup --tests"

  private let folder: TestFolder
  private let process: GuardedProcess

  var connection: String { "host=\(folder.path) port=6432 user=postgres dbname=postgres" }

  /// - Parameter mode: `transaction` or `session`.
  init(_ server: PostgresServer, mode: String) async throws {
    folder = try TestFolder("pgbouncer")
    let settings = """
      [databases]
      postgres = host=\(server.socketFolder) port=5432 dbname=postgres user=postgres
      [pgbouncer]
      listen_addr =
      listen_port = 6432
      unix_socket_dir = \(folder.path)
      auth_type = any
      pool_mode = \(mode)
      default_pool_size = 20

      """
    let path = "\(folder.path)/pgbouncer.ini"
    try Data(settings.utf8).write(to: URL(filePath: path))
    let (folder, program) = (folder.path, Self.program ?? "pgbouncer")
    try await onOwnThread {
      try GuardedProcess.run(["chmod", "a+r", path])
      try GuardedProcess.giveToServerUser(folder)
    }
    process = try await GuardedProcess(
      GuardedProcess.asServerUser([program, path]), in: folder, log: "\(folder)/log")
    let address = try PostgresAddress(connection)
    let isReady = await eventuallyHolds {
      do throws(PostgresError) {
        _ = try PostgresSession(
          address, statementTimeMax: .seconds(5), deadline: LoopClock.now() + .seconds(5))
        return true
      } catch { return false }
    }
    guard isReady else {
      let log = try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)
      throw PostgresServer.Problem.notReady(log ?? "")
    }
  }

  func stop() async throws { try await process.stop() }
}

@Suite(.enabled(if: PostgresServer.isInstalled && PgBouncer.program != nil, "\(PgBouncer.whyNot)"))
struct PoolerTests {
  @Test("A pooler in transaction mode is refused, although the log and the inbox work through it")
  func transactionMode() async throws {
    let server = try await PostgresServer()
    let pooler = try await PgBouncer(server, mode: "transaction")
    let direct = try PostgresBackend.test(server.connection)
    try await direct.prepare()
    let pooled = try PostgresBackend.test(pooler.connection)
    let refusal = await failure { () throws(ClusterError) in try await pooled.prepare() }
    #expect(refusal == .faulty(PostgresBackend.poolerFault))
    let findings = try await pooled.findings()
    #expect(findings.map(\.severity).contains(.problem))
    #expect(findings.map(\.text).contains(PostgresBackend.poolerFault))

    let lease = try #require(try await pooled.take(.test("a"), for: .seconds(600)))
    let appender = try pooled.appender(of: lease)
    for position in 1...20 as ClosedRange<Int64> {
      try appender.append([1], at: position)
      // The statements of this session are prepared in the process that served it at that moment.
      #expect(try await pooled.lease()?.epoch == lease.epoch)
      _ = try await pooled.submit([InboxEntry(device: "d", key: "\(position)", body: [])])
    }
    #expect(try await direct.head().position == 20)
    #expect(try await direct.inboxState().count == 20)
    // Settings of a session would stay for other clients of the pooler.
    let session = try PostgresSession(
      PostgresAddress(pooler.connection), statementTimeMax: .milliseconds(1),
      deadline: LoopClock.now() + .seconds(30))
    let timeout = try session.query(
      "SELECT current_setting('statement_timeout')", deadline: LoopClock.now() + .seconds(30)
    ).text(0, 0)
    #expect(timeout == "0")
    session.close()
    await pooled.close()
    await direct.close()
    try await pooler.stop()
  }

  @Test("A pooler in session mode works like the server")
  func sessionMode() async throws {
    let server = try await PostgresServer()
    let pooler = try await PgBouncer(server, mode: "session")
    let (a, b) = (
      try PostgresBackend.test(pooler.connection), try PostgresBackend.test(pooler.connection)
    )
    try await a.prepare()
    #expect(try await a.findings().filter { !$0.text.contains("fsync") } == [])
    let lease = try #require(try await a.take(.test("a"), for: .seconds(600)))
    let appender = try a.appender(of: lease)
    let start = LoopClock.now()
    let reader = Task {
      var position: Int64 = 0
      while position < 5 {
        await b.waitForRows(after: position, atMost: .seconds(60))
        position = try await b.rows(after: position, bytesMax: 1000).last?.position ?? position
      }
    }
    for position in 1...5 as ClosedRange<Int64> { try appender.append([1], at: position) }
    try await reader.value
    #expect(LoopClock.now().elapsed(since: start) < .seconds(50))
    await a.close()
    await b.close()
    try await pooler.stop()
  }
}
