import Foundation
import GRDB
import Testing

@testable import Larder

struct OutboxTests {
  private static func page() -> (status: Int, body: JSONValue) {
    (200, ["changes": [], "cursor": "c", "complete": true])
  }

  @Test("A forced mutation that cannot have been sent is not kept, and one that may have been is")
  func keepsForcedMutations() async throws {
    let wasSent = Locked(false)
    let transport = ScriptedLarder.withAccount { request in
      throw LarderError.offline("cut", wasSent: wasSent.withLock { $0 })
    }
    let larder = try await ScriptedLarder.registered(transport)
    await #expect(throws: LarderError.self) { try await larder.force("RateFilm") }
    #expect(try await larder.outbox().isEmpty)
    wasSent.withLock { $0 = true }
    await #expect(throws: LarderError.self) { try await larder.force("RateFilm") }
    #expect(try await larder.outbox().map(\.state) == [.waiting])
  }

  @Test("An item that cannot be delivered can be withdrawn, and does not hold up the others then")
  func withdrawsUndeliverable() async throws {
    let isPoison = Locked(true)
    let transport = ScriptedLarder.withAccount { request in
      guard request.path == "/v1/mutations" else {
        return (409, ["code": "not_cancellable", "status": 409, "detail": "", "retry": "after"])
      }
      let name = try JSONValue(parsing: request.body ?? Data())["operation"]?.string ?? ""
      if name == "Poison", isPoison.withLock({ $0 }) {
        throw LarderError.offline("The response (413, text/html) is not Larder's.", wasSent: true)
      }
      return (202, ["id": .string(name), "state": "queued"])
    }
    let larder = try await ScriptedLarder.registered(transport)
    let id = larder.newID()
    let film = OptimisticChange(.create, type: "Film", id: id, fields: ["title": "new"])
    let poison = try await larder.submit("Poison", optimistic: [film])
    try await larder.submit("Good")
    let dependent = try await larder.submit("Rate", variables: ["id": .string(id)])
    #expect(try await larder.send().left == 3)
    try await larder.discard(poison)
    #expect(try await larder.outbox().map(\.state) == [.withdrawn, .waiting])
    #expect(try await larder.outcomes().map(\.key) == [dependent])
    #expect(try await larder.outcomes().map(\.reason) == ["dependency"])
    #expect(try await larder.read { db in try db.all() }.isEmpty)
    let result = try await larder.send()
    #expect(result.sent == 1)
    #expect(result.left == 1)
    #expect(result.error?.code == "offline")
    isPoison.withLock { $0 = false }
    for _ in 0..<2 { #expect(try await larder.send().left == 0) }
    #expect(transport.requests.filter { $0.hasPrefix("DELETE") } == ["DELETE /v1/mutations/Poison"])
    #expect(try await larder.outbox().map(\.state) == [.enqueued, .enqueued])
  }

  @Test("Of the outcomes those that came last are kept, whenever their items were submitted")
  func keepsLastOutcomes() async throws {
    let store = try PhoneStore(url: nil)
    let (outcomes, late, last) = try await store.write { db in
      try db.execute(sql: "INSERT INTO profile (id) VALUES ('p')")
      let rows = OutboxRows(db, "p")
      func add() throws -> OutboxRows.Item {
        try rows.add(operation: "X", payload: [:], isForced: false, overlay: [])
      }
      let late = try add()
      let kept = OutboxRows.outcomesMax - 1
      try db.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
          INSERT INTO outcome SELECT 'p', i + 1, 'key' || i, 'X', '{}', i FROM n
          """, arguments: [kept])
      try db.execute(sql: "UPDATE profile SET submitted = 50000")
      let last = try add()
      for item in [late, last] { try rows.end(item, state: "applied") }
      return (try rows.outcomes().map(\.key), late.key, last.key)
    }
    #expect(outcomes.count == OutboxRows.outcomesMax)
    #expect(outcomes.first == late)
    #expect(outcomes.last == last)
    #expect(!outcomes.contains("key1"))
  }

  @Test("The next item of a long outbox is found by an index")
  func findsNextItem() async throws {
    let store = try PhoneStore(url: nil)
    let plan = try await store.read { db in
      try Row.fetchAll(
        db, sql: "EXPLAIN QUERY PLAN " + OutboxRows.firstWaiting, arguments: ["p"]
      ).map { $0["detail"] as String }
    }
    #expect(plan == ["SEARCH item USING INDEX itemToSend (profile=?)"])
  }

  #if canImport(Glibc)
    @Test(
      "A forced mutation that is cancelled while the connection is made is not kept",
      .timeLimit(.minutes(1)))
    func dropsCancelledForce() async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = Larder.Store.file(folder.appendingPathComponent("larder.sqlite"))
      let credentials = MemoryCredentialStore()
      do {
        var options = Larder.Options()
        options.transport = ScriptedLarder { ScriptedLarder.account($0) ?? (503, [:]) }
        let url = try #require(URL(string: "http://larder"))
        let larder = try await Larder(
          url: url, store: store, credentials: credentials, options: options)
        try await larder.register()
      }
      let listener = FullListener()
      let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)"))
      let larder = try await Larder(url: url, store: store, credentials: credentials)
      let forced = Task { try await larder.force("BookTrip") }
      try await until { try await !larder.outbox().isEmpty }
      forced.cancel()
      await #expect(throws: CancellationError.self) { try await forced.value }
      #expect(try await larder.outbox().isEmpty)
    }

    /// A listener whose backlog is full: connections to it are neither made nor refused.
    private final class FullListener {
      private var sockets: [Int32] = []
      private(set) var port: UInt16 = 0

      init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            let listener = make()
            _ = bind(listener, address, length)
            _ = listen(listener, 0)
            _ = getsockname(listener, address, &length)
            for _ in 0..<4 { _ = connect(make(), address, length) }
          }
        }
        port = UInt16(bigEndian: address.sin_port)
      }

      private func make() -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        sockets.append(socket(AF_INET, type, 0))
        return sockets[sockets.count - 1]
      }

      deinit {
        for socket in sockets { close(socket) }
      }
    }
  #endif

  @Test("An outcome that is reported before the item's response is known is not lost")
  func remembersEarlyReports() async throws {
    let isLost = Locked(true)
    let transport = ScriptedLarder.withAccount { request in
      if request.path == "/v1/mutations" {
        if isLost.withLock({ $0 }) { throw LarderError.offline("cut", wasSent: true) }
        return (202, ["id": "m1", "state": "queued"])
      }
      guard request.query.contains(where: { $0.value == "$mutation" }),
        !request.query.contains(where: { $0.name == "since" })
      else { return Self.page() }
      let report: JSONValue = [
        "op": "put", "type": "$mutation", "id": "m1",
        "data": ["state": "rejected", "reason": "no"],
      ]
      return (200, ["changes": [report], "cursor": "c", "complete": true])
    }
    let larder = try await ScriptedLarder.registered(transport)
    let key = try await larder.submit("RateFilm")
    #expect(try await larder.send().left == 1)
    try await larder.sync()
    isLost.withLock { $0 = false }
    #expect(try await larder.send().sent == 1)
    try await larder.sync()
    let outcomes = try await larder.outcomes()
    #expect(outcomes.map(\.key) == [key])
    #expect(outcomes.map(\.state) == ["rejected"])
    #expect(outcomes.map(\.reason) == ["no"])
  }

  @Test("`run` sends what is submitted, and the outbox can be observed", .timeLimit(.minutes(1)))
  func runs() async throws {
    let transport = ScriptedLarder.withAccount { request in
      if request.path == "/v1/mutations" { return (202, ["id": "m1", "state": "queued"]) }
      return request.isStream ? (404, [:]) : Self.page()
    }
    let larder = try await ScriptedLarder.registered(transport)
    let running = Task { await larder.run() }
    defer { running.cancel() }
    try await larder.submit("RateFilm")
    for try await items in larder.observeOutbox() where items.map(\.state) == [.enqueued] { break }
    #expect(transport.requests.contains("POST /v1/mutations"))
  }

  @Test("Items have their order from a count, and survive an ordinary end of the app")
  func survives() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("larder.sqlite")
    let credentials = MemoryCredentialStore()
    var keys: [String] = []
    for _ in 0..<3 {
      var options = Larder.Options()
      options.transport = ScriptedLarder { ScriptedLarder.account($0) ?? (503, [:]) }
      let url = try #require(URL(string: "http://larder"))
      let larder = try await Larder(
        url: url, store: .file(file), credentials: credentials, options: options)
      try await larder.register()
      keys.append(try await larder.submit("RateFilm", variables: ["stars": 1]))
      #expect(try await larder.outbox().map(\.key) == keys)
    }
  }

  @Test(
    "A forced mutation has its turn between two items that are being sent, and its own response",
    .timeLimit(.minutes(1)))
  func forcesDuringSend() async throws {
    let (arrived, held) = (Gate(), Gate())
    let sent = Locked<[String]>([])
    let transport = ScriptedLarder.withAccount { request in
      let name = try JSONValue(parsing: request.body ?? Data())["operation"]?.string ?? ""
      sent.withLock { $0.append(name) }
      if name == "First" {
        await arrived.open()
        await held.pass()
      }
      let response: JSONValue = ["data": ["name": .string(name)]]
      return (200, ["id": .string(name), "state": "applied", "response": response])
    }
    let larder = try await ScriptedLarder.registered(transport)
    try await larder.submit("First")
    try await larder.submit("Second")
    async let sending = larder.send()
    await arrived.pass()
    async let forced = larder.force("Forced")
    try await until { await larder.mutations.exclusive.waitingCount == 1 }
    await held.open()
    #expect(try await forced.response["data"]?["name"] == "Forced")
    #expect(try await sending.left == 0)
    #expect(sent.withLock { $0 } == ["First", "Forced", "Second"])
  }

  @Test(
    "An item that turns out not to have been sent is withdrawn on the phone",
    .timeLimit(.minutes(1)))
  func discardsDuringSend() async throws {
    let (arrived, held) = (Gate(), Gate())
    let transport = ScriptedLarder.withAccount { request in
      await arrived.open()
      await held.pass()
      throw LarderError.offline("flight mode", wasSent: false)
    }
    let larder = try await ScriptedLarder.registered(transport)
    let key = try await larder.submit("RateFilm")
    async let sending = larder.send()
    await arrived.pass()
    async let discarding: Void = larder.discard(key)
    try await until { await larder.mutations.exclusive.waitingCount == 1 }
    await held.open()
    try await discarding
    #expect(try await sending.sent == 0)
    #expect(try await larder.outcomes().map(\.state) == ["discarded"])
    #expect(transport.requests.filter { $0 == "POST /v1/mutations" }.count == 1)
  }

  @Test("What was sent from a new device without a response is not withdrawn on the phone")
  func marksItemsOfNewDevice() async throws {
    let attempts = Locked(0)
    let transport = ScriptedLarder.withAccount { request in
      let attempt = attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      if attempt > 1 { throw LarderError.offline("cut", wasSent: true) }
      return (401, ["code": "unauthenticated", "detail": "The device token is unknown."])
    }
    let larder = try await ScriptedLarder.registered(transport)
    let key = try await larder.submit("RateFilm")
    #expect(try await larder.send().left == 1)
    #expect(transport.requests.filter { $0 == "POST /v1/devices" }.count == 2)
    try await larder.discard(key)
    #expect(try await larder.outbox().map(\.key) == [key])
    #expect(try await larder.outbox().map(\.state) == [.withdrawn])
    #expect(try await larder.outcomes().isEmpty)
  }
}
