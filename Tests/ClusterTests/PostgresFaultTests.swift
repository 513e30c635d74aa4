import PostgreSQL
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Cluster

/// What happens when PostgreSQL, or the way to it, fails: no commit is lost that was acknowledged, and none is
/// done twice.
@Suite(.enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whyNot)"), .serialized)
struct PostgresFaultTests {
  private static let long = Duration.seconds(600)

  private func session(_ server: PostgresServer) throws -> PostgresSession {
    try PostgresSession(
      PostgresAddress(server.connection), statementTimeMax: .seconds(30), deadline: soon)
  }

  private var soon: LoopInstant { LoopClock.now() + .seconds(30) }

  private func positions(_ backend: PostgresBackend) async throws -> [Int64: String] {
    var (found, last): ([Int64: String], Int64) = ([:], 0)
    while case let rows = try await backend.rows(after: last, bytesMax: 1 << 20), !rows.isEmpty {
      for row in rows { found[row.position] = String(decoding: row.payload, as: UTF8.self) }
      last = rows[rows.count - 1].position
    }
    #expect(found.keys.sorted() == Array(1..<Int64(found.count) + 1))
    return found
  }

  @Test(
    "An append whose connection is cut at any byte is appended once or not at all, as its error says",
    arguments: CuttingProxy.Direction.allCases)
  func cutsAtEachByte(direction: CuttingProxy.Direction) async throws {
    let server = try await PostgresServer()
    let proxy = try CuttingProxy(to: server.socketPath)
    defer { proxy.close() }
    let direct = try PostgresBackend.test(server.connection, rowsPerPartition: 16_384)
    try await direct.prepare()
    let address = try PostgresAddress(
      "host=127.0.0.1 port=\(proxy.port) user=postgres dbname=postgres sslmode=disable "
        + "gssencmode=disable")
    let schema = try ClusterSchema(cluster: "larder")

    var acknowledged: [Int64: String] = [:]
    var refused: Set<String> = []
    var (outcomes, bytes, uncut): ([String: Int], Int, Int) = ([:], 0, 0)
    var lease = try #require(try await direct.take(.test("a"), for: Self.long))
    func appender() -> PostgresAppender {
      PostgresAppender(
        address, schema, lease, deadline: .seconds(20), doorbell: direct.doorbell)
    }
    var current = appender()
    // Until the cut is behind the append.
    while uncut < 3 {
      let head = try await direct.head().position
      let warm = current.failure(Array("warm \(bytes)".utf8), at: head + 1)
      #expect(warm == nil)
      acknowledged[head + 1] = "warm \(bytes)"
      let (position, text) = (head + 2, "cut \(bytes)")
      proxy.cutAfter(bytes, direction)
      switch current.failure(Array(text.utf8), at: position) {
      case nil:
        acknowledged[position] = text
        outcomes["appended", default: 0] += 1
        if proxy.takeCut() != nil { uncut += 1 }
      case .unavailable:
        refused.insert(text)
        outcomes["unavailable", default: 0] += 1
      case .inDoubt:
        outcomes["in doubt", default: 0] += 1
        // As the contract says: a new lease, so that what is under way can no longer be committed.
        lease = try #require(try await direct.take(.test("a"), for: Self.long))
        current = appender()
        let found = try await direct.rows(after: position - 1, bytesMax: 1).first
        if let found {
          #expect(found.payload == Array(text.utf8))
          acknowledged[position] = text
          outcomes["was appended", default: 0] += 1
        } else {
          refused.insert(text)
          outcomes["was not appended", default: 0] += 1
        }
      case let other?:
        Issue.record("\(other) after \(bytes) bytes")
        return
      }
      bytes += 1
      #expect(bytes < 5000)
    }
    let found = try await positions(direct)
    #expect(found == acknowledged)
    #expect(refused.isDisjoint(with: found.values))
    // Both ends of the uncertainty were met.
    #expect((outcomes["in doubt"] ?? 0) > 20, "\(outcomes)")
    let key = direction == .toServer ? "was not appended" : "was appended"
    #expect((outcomes[key] ?? 0) > 20, "\(outcomes)")
    await direct.close()
  }

  @Test(
    "Appends whose server process is ended at any moment are in doubt, or done, and never twice")
  func endedSessions() async throws {
    let server = try await PostgresServer()
    let backend = try PostgresBackend.test(server.connection, rowsPerPartition: 64)
    try await backend.prepare()
    let isDone = Mutex(false)
    let killer = Task.detached {
      let session = try session(server)
      var killed = 0
      while !isDone.withLock({ $0 }) {
        // The appending session alone, which is the one that has prepared the statement.
        let rows = try session.query(
          """
          SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
          WHERE query LIKE 'INSERT INTO "larder".log%' AND pid != pg_backend_pid()
          """, deadline: LoopClock.now() + .seconds(30))
        killed += Int(rows.integer(0, 0))
        await pauseBetweenLooks()
      }
      return killed
    }
    var lease = try #require(try await backend.take(.test("a"), for: Self.long))
    var appender = try backend.appender(of: lease)
    var acknowledged: [Int64: String] = [:]
    var (doubts, number) = (0, 0)
    let end = LoopClock.now() + .seconds(60)
    while (doubts < 20 || acknowledged.count < 200) && LoopClock.now() < end {
      number += 1
      let text = "append \(number)"
      let position = try await backend.head().position + 1
      switch appender.failure(Array(text.utf8), at: position) {
      case nil: acknowledged[position] = text
      case .unavailable: break
      case .inDoubt:
        doubts += 1
        lease = try #require(try await backend.take(.test("a"), for: Self.long))
        appender = try backend.appender(of: lease)
        let found = try await backend.rows(after: position - 1, bytesMax: 1).first
        if let found {
          acknowledged[found.position] = String(decoding: found.payload, as: UTF8.self)
        }
      case let other?:
        Issue.record("\(other)")
        return
      }
    }
    isDone.withLock { $0 = true }
    #expect(try await killer.value > 0)
    #expect(doubts > 0)
    #expect(try await positions(backend) == acknowledged)
    await backend.close()
  }

  @Test("An append that waits while another node takes the lease is refused")
  func appendsThatWaitAreFenced() async throws {
    let server = try await PostgresServer()
    let backend = try PostgresBackend.test(server.connection)
    try await backend.prepare()
    let lease = try #require(try await backend.take(.test("a"), for: Self.long))
    let appender = try backend.appender(of: lease)
    try appender.append([1], at: 1)
    let (taker, watcher) = (try session(server), try session(server))
    _ = try taker.query("BEGIN", deadline: soon)
    _ = try taker.query(
      "UPDATE larder.lease SET epoch = epoch + 1, node = 'b', until = now() + interval '1 hour'",
      deadline: soon)
    let pool = BlockingPool(threadsMax: 1)
    async let failure = pool.run { appender.failure([2], at: 2) }
    let waits = try await eventuallyHolds {
      let rows = try watcher.query(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", deadline: soon)
      return rows.integer(0, 0) == 1
    }
    #expect(waits)
    _ = try taker.query("COMMIT", deadline: soon)
    #expect(await failure == .fenced)
    #expect(try await backend.head().position == 1)
    await backend.close()
  }

  @Test("A node that takes the lease sees the append that was being committed")
  func takingWaitsForAppends() async throws {
    let server = try await PostgresServer()
    let backend = try PostgresBackend.test(server.connection)
    try await backend.prepare()
    let lease = try #require(try await backend.take(.test("a"), for: .milliseconds(200)))
    let (old, watcher) = (try session(server), try session(server))
    // An append that has passed its check, and hangs before its commit.
    _ = try old.query("BEGIN", deadline: soon)
    let inserted = try old.query(
      """
      INSERT INTO larder.log (position, epoch, payload) SELECT 1, $1, 'x' WHERE EXISTS (
        SELECT 1 FROM larder.lease WHERE epoch = $1 AND node = 'a' AND until > now() FOR SHARE)
      """, [.integer(lease.epoch)], deadline: soon)
    let count = inserted.affectedRows
    #expect(count == 1)
    #expect(try await eventuallyHolds { try await backend.lease() == nil })
    let taking = Task { try await backend.take(.test("b"), for: Self.long) }
    let waits = try await eventuallyHolds {
      let rows = try watcher.query(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", deadline: soon)
      return rows.integer(0, 0) == 1
    }
    #expect(waits)
    #expect(try await backend.head().position == 0)
    _ = try old.query("COMMIT", deadline: soon)
    let taken = try #require(try await taking.value)
    #expect(taken.validFor > Self.long - .seconds(60))
    #expect(try await backend.head().position == 1)
    try backend.appender(of: taken).append([2], at: 2)
    await backend.close()
  }

  @Test(
    "After a restart of the server everything goes on, and nothing that was acknowledged is lost")
  func serverRestarts() async throws {
    let server = try await PostgresServer(options: ["fsync=on"])
    let backend = try PostgresBackend.test(server.connection)
    try await backend.prepare()
    let lease = try #require(try await backend.take(.test("a"), for: Self.long))
    let appender = try backend.appender(of: lease)
    let entries = [InboxEntry(device: "d", key: "k", body: [1])]
    let receipts = try await backend.submit(entries)
    for position in 1...10 as ClosedRange<Int64> { try appender.append([7], at: position) }
    let waiting = Task { await backend.waitForRows(after: 99, atMost: .seconds(60)) }
    try await server.stop()
    let start = LoopClock.now()
    #expect(appender.failure([8], at: 11)?.isUnavailable == true)
    let call = await failure { () throws(ClusterError) in try await backend.head() }
    #expect(call?.isUnavailable == true)
    #expect(LoopClock.now().elapsed(since: start) < .seconds(10))
    try await server.start()
    // The session that ended is found before anything is sent, so the append is not in doubt.
    #expect(appender.failure([8], at: 11) == nil)
    #expect(try await backend.head() == LogHead(position: 11, floor: 0, epoch: lease.epoch))
    #expect(try await backend.lease()?.epoch == lease.epoch)
    #expect(try await backend.submit(entries).map(\.number) == receipts.map(\.number))
    // The listener has connected again, which ends the wait.
    await waiting.value
    #expect(LoopClock.now().elapsed(since: start) < .seconds(50))
    await backend.close()
  }

  @Test("Where nothing listens every call is unavailable at once")
  func nothingListens() async throws {
    let backend = try PostgresBackend.test(
      "host=127.0.0.1 port=1 user=a dbname=a sslmode=disable", deadline: .seconds(60))
    let start = LoopClock.now()
    let lease = Lease(epoch: 1, holder: NodeID("a"), url: "", digest: "", validFor: .seconds(5))
    let appender = try backend.appender(of: lease)
    let failures: [ClusterError?] = [
      await failure { () throws(ClusterError) in try await backend.prepare() },
      await failure { () throws(ClusterError) in try await backend.lease() },
      await failure { () throws(ClusterError) in try await backend.take(.test("a"), for: Self.long)
      },
      await failure { () throws(ClusterError) in try await backend.head() },
      await failure { () throws(ClusterError) in try await backend.beat(.test("a")) },
      await failure { () throws(ClusterError) in
        try await backend.submit([InboxEntry(device: "d", key: "k", body: [])])
      },
      await failure { () throws(ClusterError) in try await backend.findings() },
      appender.failure([1], at: 1),
    ]
    for failure in failures { #expect(failure?.isUnavailable == true, "\(failure as Any)") }
    #expect(LoopClock.now().elapsed(since: start) < .seconds(20))
    await backend.waitForRows(after: 0, atMost: .milliseconds(20))
    await backend.close()
  }

  @Test(
    "A server that hangs ends calls by their deadline, and appends are in doubt once they were sent"
  )
  func hangingServer() async throws {
    let server = try await PostgresServer()
    let backend = try PostgresBackend.test(server.connection, deadline: .milliseconds(400))
    let patient = try PostgresBackend.test(server.connection)
    try await patient.prepare()
    let lease = try #require(try await patient.take(.test("a"), for: Self.long))
    let (small, large) = (try backend.appender(of: lease), try backend.appender(of: lease))
    try small.append([1], at: 1)
    try large.append([2], at: 2)
    _ = try await backend.head()
    try server.pause(true)
    let start = LoopClock.now()
    #expect(small.failure(Array("small".utf8), at: 3)?.isInDoubt == true)
    // More than the buffers of a socket take: it was not sent to its end, and so can never be committed.
    let bytes = [UInt8](repeating: 9, count: 20_000_000)
    #expect(large.failure(bytes, at: 3)?.isUnavailable == true)
    let call = await failure { () throws(ClusterError) in try await backend.head() }
    #expect(call?.isUnavailable == true)
    #expect(LoopClock.now().elapsed(since: start) < .seconds(10))
    try server.pause(false)
    let next = try #require(try await patient.take(.test("a"), for: Self.long))
    let head = try await patient.head().position
    #expect(head == 2 || head == 3)
    let rows = try await patient.rows(after: 2, bytesMax: 100)
    #expect(rows.map(\.payload) == (head == 3 ? [Array("small".utf8)] : []))
    try patient.appender(of: next).append([4], at: head + 1)
    await backend.close()
    await patient.close()
  }

  @Test("Submissions beyond the limit are refused at once while PostgreSQL hangs")
  func submissionsHaveALimit() async throws {
    let server = try await PostgresServer()
    let direct = try PostgresBackend.test(server.connection)
    try await direct.prepare()
    let pool = try PostgresPool(
      PostgresAddress(server.connection), sessionsMax: 1, deadline: .seconds(2))
    let submissions = try InboxSubmissions(pool, ClusterSchema(cluster: "larder"), waitingMax: 2)
    try server.pause(true)
    let start = LoopClock.now()
    let reasons = await withTaskGroup(of: (String, Duration).self) { group in
      for number in 0..<20 {
        group.addTask {
          let entry = InboxEntry(device: "d", key: "\(number)", body: [])
          let error = await failure { () throws(ClusterError) in
            try await submissions.submit([entry])
          }
          return ("\(error as Any)", LoopClock.now().elapsed(since: start))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let refused = reasons.filter { $0.0.contains("2 submissions wait") }
    // One group is being written, and two wait, if the group was taken before they came.
    #expect(refused.count >= 17 && refused.count <= 18, "\(reasons)")
    #expect(reasons.allSatisfy { $0.1 < .seconds(20) })
    try server.pause(false)
    let receipts = try await submissions.submit([InboxEntry(device: "d", key: "x", body: [])])
    #expect(receipts.count == 1)
    pool.close()
    await direct.close()
  }

  @Test("A reader that holds the log delays the removal of rows, and not appends")
  func readersDelayTrimming() async throws {
    let server = try await PostgresServer()
    let backend = try PostgresBackend.test(server.connection)
    try await backend.prepare()
    let lease = try #require(try await backend.take(.test("a"), for: Self.long))
    let appender = try backend.appender(of: lease)
    for position in 1...30 as ClosedRange<Int64> { try appender.append([1], at: position) }
    let reader = try session(server)
    _ = try reader.query("BEGIN", deadline: soon)
    _ = try reader.query("SELECT count(*) FROM larder.log", deadline: soon)
    let trimming = await failure { () throws(ClusterError) in try await backend.trim(upTo: 20) }
    #expect(trimming?.isUnavailable == true, "\(trimming as Any)")
    try appender.append([1], at: 31)
    // New partitions are made beside a reader.
    for position in 32...60 as ClosedRange<Int64> { try appender.append([1], at: position) }
    _ = try reader.query("COMMIT", deadline: soon)
    try await backend.trim(upTo: 20)
    let head = try await backend.head()
    #expect(head.floor > 8 && head.position == 60)
    await backend.close()
  }
}
