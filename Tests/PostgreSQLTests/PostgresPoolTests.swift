import PostgreSQL
import Synchronization
import TestSupport
import Testing
import Transport

@Suite(.enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whyNot)"))
struct PostgresPoolTests {
  private func backendID(_ pool: PostgresPool) async throws -> Int64 {
    try await pool.run { session, _ in session.backendID }
  }

  @Test("A session is used again, and replaced if it ended while it was idle")
  func sessionsAreReplaced() async throws {
    let server = try await PostgresServer()
    let pool = try PostgresPool(
      PostgresAddress(server.connection), sessionsMax: 2, deadline: .seconds(20))
    let first = try await backendID(pool)
    #expect(try await backendID(pool) == first)
    try await server.stop()
    try await server.start()
    let runs = Mutex(0)
    let one = try await pool.run { session, deadline throws(PostgresError) in
      runs.withLock { $0 += 1 }
      return try session.query("SELECT 1::int8", deadline: deadline).integer(0, 0)
    }
    #expect(one == 1)
    #expect(runs.withLock { $0 } == 2)
    pool.close()
  }

  @Test("Calls beyond the number of sessions wait, and end by their deadline")
  func callsWaitForASession() async throws {
    let server = try await PostgresServer()
    let pool = try PostgresPool(
      PostgresAddress(server.connection), sessionsMax: 1, deadline: .milliseconds(300))
    let holds = AsyncSignal()
    let holder = Task { () -> Bool in
      do throws(PostgresError) {
        try await pool.run { session, deadline throws(PostgresError) in
          holds.notify()
          _ = try session.query("SELECT pg_sleep(60)", deadline: deadline)
        }
        return false
      } catch { return true }
    }
    await holds.wait()
    // Both have the same time; the second gets the session that the first one's end leaves, if at all.
    let start = LoopClock.now()
    let isRun = Mutex(false)
    do throws(PostgresError) {
      try await pool.run { _, _ in isRun.withLock { $0 = true } }
      #expect(isRun.withLock { $0 })
    } catch {
      // What is left of the time when the session becomes free can be too little to connect again.
      let isLate = if case .unreachable = error { true } else { false }
      #expect(isLate, "\(error)")
    }
    #expect(LoopClock.now().elapsed(since: start) < .seconds(10))
    #expect(await holder.value)
    // The pool works on.
    #expect(try await backendID(pool) > 0)
    pool.close()
  }

  @Test("Closing ends the calls that run, and refuses later ones")
  func closingEndsCalls() async throws {
    let server = try await PostgresServer()
    let pool = try PostgresPool(
      PostgresAddress(server.connection), sessionsMax: 2, deadline: .seconds(60))
    let hasStarted = AsyncSignal()
    let running = Task { () -> PostgresError? in
      do throws(PostgresError) {
        try await pool.run { session, deadline throws(PostgresError) in
          hasStarted.notify()
          _ = try session.query("SELECT pg_sleep(60)", deadline: deadline)
        }
        return nil
      } catch { return error }
    }
    await hasStarted.wait()
    pool.close()
    let failure = await running.value
    // The statement may not have been sent when the pool was closed.
    #expect(
      failure == .lost("the session was closed while a statement ran")
        || failure == .unreachable("the session was closed"))
    await #expect(throws: PostgresError.unreachable("the connections are closed")) {
      try await pool.run { _, _ in }
    }
  }

  @Test("A listener receives notifications, and again after the server was restarted")
  func listenerReconnects() async throws {
    let server = try await PostgresServer()
    let address = try PostgresAddress(server.connection)
    let pool = PostgresPool(address, sessionsMax: 1, deadline: .seconds(20))
    let payloads = Mutex<[String]>([])
    let starts = Mutex(0)
    let listener = PostgresListener(address, channel: "a \"b\"", connectTimeMax: .seconds(5)) {
      event in
      switch event {
      case .listening: starts.withLock { $0 += 1 }
      case .notification(let notification): payloads.withLock { $0.append(notification.payload) }
      case .lost: break
      }
    }
    listener.start()
    func notify(_ payload: String) async throws {
      try await pool.run { session, deadline throws(PostgresError) in
        _ = try session.query(
          "SELECT pg_notify($1, $2)", [.text("a \"b\""), .text(payload)], deadline: deadline)
      }
    }
    #expect(await eventuallyHolds { starts.withLock { $0 } == 1 })
    try await notify("1")
    #expect(await eventuallyHolds { payloads.withLock { $0 } == ["1"] })
    try await server.stop()
    try await server.start()
    #expect(await eventuallyHolds { starts.withLock { $0 } == 2 })
    try await notify("2")
    #expect(await eventuallyHolds { payloads.withLock { $0 } == ["1", "2"] })
    listener.close()
    pool.close()
  }
}
