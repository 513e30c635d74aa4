import PostgreSQL
import TestSupport
import Testing
import Transport

@Suite(.enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whyNot)"))
struct PostgresSessionTests {
  private func session(
    _ server: PostgresServer, statementTimeMax: Duration = .seconds(10)
  ) throws -> PostgresSession {
    try PostgresSession(
      PostgresAddress(server.connection), statementTimeMax: statementTimeMax, deadline: soon)
  }

  private var soon: LoopInstant { LoopClock.now() + .seconds(20) }

  /// The first column of the first row.
  private func integer(
    _ session: PostgresSession, _ sql: String, _ parameters: [PostgresValue] = [],
    name: String? = nil
  ) throws -> Int64 {
    try session.query(sql, parameters, name: name, deadline: soon).integer(0, 0)
  }

  @Test("Values of all kinds are the same after a round trip in binary form")
  func valuesRoundTrip() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let row = try session.query(
      "SELECT $1, $2, $3, $4, $5::text, $6, $7::int8 IS NULL, $8, $9",
      [
        .integer(.min), .integer(.max), .text("ü\u{1F600}'\"\\"), .bytes(bytes), .text(""),
        .bytes([]), .null, .integer(-1), .bytes([0]),
      ], deadline: soon)
    let numbers = [0, 1, 7].map { row.integer(0, $0) }
    let texts = [row.text(0, 2), row.optionalText(0, 4)]
    let (long, short, empty) = (row.bytes(0, 3), row.bytes(0, 8), row.bytes(0, 5))
    let (isNull, isFound, isEmptyNull) = (row.bool(0, 6), row.rowCount == 1, row.isNull(0, 5))
    #expect(isFound && isNull && !isEmptyNull)
    #expect(numbers == [.min, .max, -1])
    #expect(texts == ["ü\u{1F600}'\"\\", ""])
    #expect(long == bytes)
    #expect(short == [0])
    #expect(empty.isEmpty)
  }

  @Test("Lists are arrays of the server, also empty ones")
  func arraysRoundTrip() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    let rows = try session.query(
      "SELECT number, name, bytes FROM unnest($1, $2, $3) AS listed (number, name, bytes)",
      [.integers([3, -4]), .texts(["a,{}\"", ""]), .byteStrings([[], [0, 255]])], deadline: soon)
    let found = (0..<rows.rowCount).map { row in
      "\(rows.integer(row, 0)) \(rows.text(row, 1)) \(rows.bytes(row, 2))"
    }
    #expect(found == ["3 a,{}\" []", "-4  [0, 255]"])
    #expect(try integer(session, "SELECT cardinality($1)::int8", [.integers([])]) == 0)
  }

  @Test("A server's error has its SQLSTATE, and the session goes on")
  func errorsHaveAState() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    let failure = #expect(throws: PostgresError.self) {
      _ = try session.query("SELECT 1 / $1", [.integer(0)], deadline: soon)
    }
    guard case .server(let fault) = failure else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(fault.sqlState == "22012")
    #expect(!fault.isTransient)
    #expect(try integer(session, "SELECT 7::int8") == 7)
  }

  @Test("A prepared statement that the server has forgotten is run all the same")
  func forgottenStatementsAreRun() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    func seven() throws -> Int64 {
      try integer(session, "SELECT $1 + 2", [.integer(5)], name: "sum")
    }
    #expect(try seven() == 7)
    _ = try session.query("DEALLOCATE ALL", deadline: soon)
    #expect(try seven() == 7)
    #expect(try seven() == 7)
  }

  @Test("A statement that runs too long is ended by the server, without an effect")
  func statementsHaveATimeLimit() async throws {
    let server = try await PostgresServer()
    let session = try session(server, statementTimeMax: .milliseconds(100))
    let failure = #expect(throws: PostgresError.self) {
      _ = try session.query("SELECT pg_sleep(60)", deadline: soon)
    }
    guard case .server(let fault) = failure else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(fault.sqlState == "57014")
    #expect(fault.isTransient)
  }

  @Test("A deadline closes the session, and its statement is lost")
  func deadlinesCloseTheSession() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    let start = LoopClock.now()
    #expect(throws: PostgresError.lost("no response within the deadline")) {
      _ = try session.query("SELECT pg_sleep(60)", deadline: start + .milliseconds(150))
    }
    #expect(LoopClock.now().elapsed(since: start) < .seconds(5))
    #expect(!session.isOpen)
    #expect(throws: PostgresError.unreachable("the session is closed")) {
      _ = try session.query("SELECT 1", deadline: soon)
    }
  }

  @Test("A session that the server has ended while it was idle is found before anything is sent")
  func endedSessionsAreFoundBeforeSending() async throws {
    let server = try await PostgresServer()
    let (session, other) = (try session(server), try session(server))
    _ = try other.query(
      "SELECT pg_terminate_backend($1::int4, 10000)", [.integer(session.backendID)], deadline: soon)
    let failure = #expect(throws: PostgresError.self) {
      _ = try session.query("SELECT 1", deadline: soon)
    }
    guard case .unreachable = failure else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(!session.isOpen)
  }

  @Test("A session that the server ends during a statement has lost it")
  func endedStatementsAreLost() async throws {
    let server = try await PostgresServer()
    let (session, other) = (try session(server), try session(server))
    let failure = #expect(throws: PostgresError.self) {
      // It ends itself: the server's answer is of severity FATAL and has an SQLSTATE.
      _ = try session.query(
        "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)", deadline: soon)
    }
    guard case .lost(let reason) = failure else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(reason.contains("terminating connection"))
    #expect(try integer(other, "SELECT 1::int8") == 1)
  }

  @Test("A wait ends when another thread interrupts it")
  func interruptionEndsWaits() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    let pool = BlockingPool(threadsMax: 1)
    async let failure: PostgresError? = pool.run {
      do throws(PostgresError) {
        _ = try session.query("SELECT pg_sleep(60)", deadline: LoopClock.now() + .seconds(60))
        return nil
      } catch { return error }
    }
    let watcher = try self.session(server)
    let isRunning = try await eventuallyHolds {
      try integer(
        watcher, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 1
    }
    #expect(isRunning)
    session.interrupt()
    #expect(await failure == .lost("the session was closed while a statement ran"))
  }

  @Test("A connection that is refused fails at once, and one that is not accepted by the deadline")
  func unreachableServers() async throws {
    let start = LoopClock.now()
    let nowhere = try PostgresAddress("host=127.0.0.1 port=1 user=a dbname=a sslmode=disable")
    let refused = #expect(throws: PostgresError.self) {
      _ = try PostgresSession(
        nowhere, statementTimeMax: .seconds(5), deadline: start + .seconds(20))
    }
    guard case .unreachable = refused else {
      Issue.record("\(refused as Any)")
      return
    }
    #expect(LoopClock.now().elapsed(since: start) < .seconds(5))

    let server = try await PostgresServer()
    let address = try PostgresAddress(server.connection)
    try server.pause(true)
    defer { try? server.pause(false) }
    #expect(throws: PostgresError.unreachable("the server did not accept the connection in time")) {
      _ = try PostgresSession(
        address, statementTimeMax: .seconds(5), deadline: LoopClock.now() + .milliseconds(200))
    }
  }

  @Test(
    "An invalid connection string is refused without showing a password",
    arguments: ["postgres://u:sec%zzret@h/d", "host='sec\"ret", "nonsense", "pass\0word"])
  func invalidConnectionStrings(text: String) throws {
    let failure = #expect(throws: PostgresError.self) { _ = try PostgresAddress(text) }
    guard case .unusable(let reason) = failure else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(!reason.contains("ret"))
    #expect(reason.contains("connection string"))
  }

  @Test("Identifiers are quoted")
  func identifiersAreQuoted() async throws {
    let server = try await PostgresServer()
    let session = try session(server)
    let name = PostgresIdentifier("a\"; DROP TABLE x; --")
    #expect(try integer(session, "SELECT 5::int8 AS \(name)") == 5)
  }
}
