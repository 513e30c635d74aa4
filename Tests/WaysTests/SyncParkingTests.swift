import DemoUpstream
import LosslessJSON
import Synchronization
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// Mutations whose upstream response was lost: resolved by a status query, or parked for a decision.
  struct SyncParkingTests {
    typealias Answer = ScriptedServer.Answer

    /// An upstream that loses its response to the first mutation and responds to the others; the test decides
    /// the responses to queries.
    private final class Upstream: Sendable {
      /// The number of requests for each mutation, by its key, and for queries, which have none.
      private let counts = Mutex<[String: Int]>([:])
      let look: @Sendable (_ time: Int) -> Answer

      init(look: @escaping @Sendable (_ time: Int) -> Answer = { _ in Answer(404) }) {
        self.look = look
      }

      subscript(key: String) -> Int { counts.withLock { $0[key] ?? 0 } }

      func respond(to request: ScriptedServer.Request) -> Answer? {
        let (count, isFirst) = counts.withLock { counts in
          let isFirst = counts.keys.allSatisfy { $0.isEmpty }
          counts[request.key, default: 0] += 1
          return (counts[request.key] ?? 0, isFirst)
        }
        if request.key.isEmpty { return look(count) }
        if isFirst { return nil }
        return String(decoding: request.body, as: UTF8.self).contains("deleteFilm")
          ? Answer(200, #"{"data":{"deleteFilm":"f1"}}"#)
          : Answer(200, #"{"data":{"rateFilm":{"__typename":"Film","id":"f1"}}}"#)
      }
    }

    private static let operations = [
      "films": """
      query Look($id: ID!) { film(id: $id) { id title } }
      mutation Rate($id: ID!, $stars: Int!) @sync(object: "Film:$id", verify: "Look") {
        rateFilm(id: $id, stars: $stars) { id }
      }
      mutation Drop($id: ID!) @sync(object: "Film:$id", verify: "Look")
      @effects(deletes: ["Film:$id"]) { deleteFilm(id: $id) }
      mutation RateFilm($id: ID!, $stars: Int!) @sync(object: "Film:$id") {
        rateFilm(id: $id, stars: $stars) { id }
      }
      """
    ]
    private static let rate = """
      {"operation":"Rate","mode":"lazy","variables":{"id":"f1","stars":4}}
      """
    private static let drop = #"{"operation":"Drop","mode":"lazy","variables":{"id":"f1"}}"#
    private static let shown = Answer(
      200, #"{"data":{"film":{"__typename":"Film","id":"f1","title":"Here"}}}"#)
    private static let absent = Answer(200, #"{"data":{"film":null}}"#)

    private static func run(
      _ upstream: Upstream, settings: String = "",
      _ body: (SyncWorld) async throws -> Void
    ) async throws {
      let server = try await ScriptedServer { upstream.respond(to: $0) }
      let world = try await SyncWorld.start(
        settings: settings, operations: operations, upstream: server.url)
      try await body(world)
      await world.stop()
      await server.stop()
    }

    // MARK: Status queries

    struct Finding: CustomTestStringConvertible, Sendable {
      let testDescription: String
      let isDeletion: Bool
      /// The query's responses; the last one repeats.
      let looks: [Answer]
      /// The number of times that the mutation is sent.
      let sent: Int
    }

    static let findings =
      [
        Finding(testDescription: "shown: done", isDeletion: false, looks: [shown], sent: 1),
        Finding(
          testDescription: "not shown: sent again", isDeletion: false, looks: [absent], sent: 2),
        Finding(
          testDescription: "a deletion and not shown: done", isDeletion: true, looks: [absent],
          sent: 1),
        Finding(
          testDescription: "a deletion and shown: sent again", isDeletion: true, looks: [shown],
          sent: 2),
      ]
      + [
        Answer(500), Answer(503), Answer(404), Answer(200, "<html>", contentType: "text/html"),
        Answer(200, #"{"data":{"film":null},"errors":[{"message":"No."}]}"#),
      ].map { trouble in
        Finding(
          testDescription: "\(trouble.status) \(trouble.body): asked again", isDeletion: false,
          looks: [trouble, shown], sent: 1)
      }

    @Test(
      "The status query decides the outcome of a mutation without a response", arguments: findings)
    func statusQueryDecidesTheOutcome(finding: Finding) async throws {
      let upstream = Upstream { time in finding.looks[min(time, finding.looks.count) - 1] }
      try await Self.run(upstream) { world in
        let id = try await world.enqueue(finding.isDeletion ? Self.drop : Self.rate, key: "1")
        let told = try await eventually { () -> JSONValue in
          try await world.command("/v1/queue/flush")
          return try await world.mutation(id)
        } until: {
          $0["state"] == "applied"
        }
        #expect(told["state"] == "applied", "\(told)")
        #expect(upstream[id] == finding.sent)
        #expect(upstream[""] == finding.looks.count)
      }
    }

    @Test("A refused status query waits for another credential")
    func refusedStatusQueryWaitsForACredential() async throws {
      let upstream = Upstream { $0 == 1 ? Answer(401) : Self.shown }
      try await Self.run(upstream) { world in
        let id = try await world.enqueue(Self.rate, key: "1")
        let queue = try await eventually {
          try await world.queue()
        } until: {
          $0["state"] == "auth_required"
        }
        #expect(queue["state"] == "auth_required")
        _ = try await world.larder.get(
          "/v1/queue", world.device, ("Authorization", "Bearer user-ada-2"))
        let told = try await world.mutation(id, wait: 10)
        #expect(told["state"] == "applied", "\(told)")
        #expect(upstream[id] == 1)
      }
    }

    // MARK: Parking

    @Test("A parked mutation blocks only what conflicts with it, until it is retried")
    func parkedMutationBlocksItsConflicts() async throws {
      let upstream = Upstream()
      try await Self.run(upstream) { world in
        let parked = try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "1")
        let told = try await world.mutation(parked, wait: 10)
        #expect(told["state"] == "parked", "\(told)")
        #expect(told["reason"] == "outcome_unknown")
        let behind = try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "2")
        // Lazy: a steady mutation keeps the order of all steady ones, and waits for the second.
        let other = try await world.enqueue(SyncWorld.rating("f2"), key: "3")
        #expect(try await world.mutation(other, wait: 10)["state"] == "applied")
        #expect(try await world.mutation(behind)["state"] == "queued")
        #expect(try await world.queue() == ["pending": 1, "parked": 1, "state": "running"])
        let retried = try await world.command("/v1/mutations/\(parked)/retry")
        #expect(retried.status == 200, "\(retried.body)")
        #expect(retried.id == parked)
        for id in [parked, behind] {
          #expect(try await world.mutation(id, wait: 10)["state"] == "applied")
        }
        #expect(upstream[parked] == 2)
        // A finished mutation takes no more commands.
        let late = try await world.command("/v1/mutations/\(parked)/retry")
        #expect(late.status == 409)
        #expect(late.code == "mutation_finished")
      }
    }

    @Test("A discarded mutation unblocks what conflicts with it")
    func discardedMutationUnblocksItsConflicts() async throws {
      let upstream = Upstream()
      try await Self.run(upstream) { world in
        let parked = try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "1")
        #expect(try await world.mutation(parked, wait: 10)["state"] == "parked")
        let behind = try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "2")
        let discarded = try await world.command("/v1/mutations/\(parked)/discard")
        #expect(discarded.status == 200, "\(discarded.body)")
        #expect(discarded.body["state"] == "discarded")
        #expect(try await world.mutation(behind, wait: 10)["state"] == "applied")
        #expect(upstream[parked] == 1)
        #expect(try await world.queue() == ["pending": 0, "parked": 0, "state": "running"])
      }
    }

    // MARK: Operators

    @Test("Operators can inspect and settle any queue")
    func operatorsManageAnyQueue() async throws {
      let upstream = Upstream()
      try await Self.run(upstream, settings: "queue: {debounce: 60s}") { world in
        func operate(
          _ method: String, _ target: String, as admin: (String, String)? = OperatingTests.admin
        ) async throws -> SyncWorld.Answer {
          try SyncWorld.Answer(
            try await world.larder.request(
              method, "/v1/admin/queues\(target)", headers: admin.map { [$0] } ?? []))
        }
        let queue = "/\(world.deviceID)"
        for (method, target) in [
          ("GET", ""), ("GET", "\(queue)/mutations"), ("POST", "\(queue)/pause"),
          ("POST", "\(queue)/resume"), ("POST", "\(queue)/flush"),
          ("POST", "\(queue)/mutations/m_1/retry"), ("POST", "\(queue)/mutations/m_1/discard"),
        ] {
          let refused = try await operate(method, target, as: nil)
          #expect(refused.status == 401, "\(target)")
        }
        let first = try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "1")
        #expect(try await world.mutation(first, wait: 10)["state"] == "parked")
        let listed = try await operate("GET", "")
        #expect(
          listed.body["items"] == [
            [
              "device": .string(world.deviceID), "pending": 0, "parked": 1, "state": "running",
              "parkedReasons": ["outcome_unknown": 1],
            ]
          ], "\(listed.body)")
        let retried = try await operate("POST", "\(queue)/mutations/\(first)/retry")
        #expect(retried.status == 200, "\(retried.body)")
        #expect(try await world.mutation(first, wait: 10)["state"] == "applied")
        #expect(try await operate("POST", "\(queue)/pause").body["state"] == "paused")
        let lazy = try await world.enqueue(SyncWorld.rating("f2"), key: "2")
        let held = try await operate("GET", "\(queue)/mutations")
        #expect(held.body["items"]?.array?.compactMap { $0["id"]?.string } == [lazy])
        #expect(try await operate("POST", "\(queue)/resume").body["state"] == "running")
        // Debounce holds it for a minute.
        #expect(try await world.mutation(lazy)["state"] == "queued")
        #expect(try await operate("POST", "\(queue)/flush").status == 200)
        #expect(try await world.mutation(lazy, wait: 10)["state"] == "applied")
        let unknown = try await operate("POST", "\(queue)/mutations/m_1/discard")
        #expect(unknown.status == 404)
        #expect(unknown.code == "mutation_not_found")
      }
    }

    @Test("Operators can discard parked mutations")
    func operatorsDiscardParkedMutations() async throws {
      let upstream = Upstream()
      try await Self.run(upstream) { world in
        let id = try await world.enqueue(SyncWorld.rating("f1", mode: "steady"), key: "1")
        #expect(try await world.mutation(id, wait: 10)["state"] == "parked")
        let discarded = try await world.larder.request(
          "POST", "/v1/admin/queues/\(world.deviceID)/mutations/\(id)/discard",
          headers: [OperatingTests.admin])
        #expect(discarded.status == 200, "\(discarded.text)")
        #expect(try await world.mutation(id)["state"] == "discarded")
      }
    }

    /// It was enqueued without a credential, so none that the device presents would help, and none is
    /// requested.
    @Test("A mutation without a usable credential blocks no other")
    func missingCredentialBlocksNoOtherMutation() async throws {
      let world = try await SyncWorld.start()
      try await world.larder.demo.change {
        $0.fail = .status(401)
        $0.operations = ["RateFilm"]
      }
      let withoutCredential = ("Accept", "*/*")
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1", as: withoutCredential)
      let told = try await world.mutation(id, is: "parked")
      #expect(told["attempts"] == 0, "\(told)")
      #expect(try await world.queue() == ["pending": 0, "parked": 1, "state": "running"])
      let other = try await world.enqueue(SyncWorld.renaming("f2"), key: "2")
      #expect(try await world.mutation(other, wait: 10)["state"] == "applied")
      let discarded = try await world.command("/v1/mutations/\(id)/discard")
      #expect(discarded.body["state"] == "discarded", "\(discarded.body)")
      await world.stop()
    }

    /// Upstream named the time: the command changes nothing, and returns the mutation.
    @Test("A retry before upstream's Retry-After returns the mutation unchanged")
    func earlyRetryReturnsTheMutation() async throws {
      let upstream = try await ScriptedServer { _ in
        Answer(503, retryAfter: "60")
      }
      let world = try await SyncWorld.start(upstream: upstream.url)
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1")
      _ = try await eventually {
        try await world.mutation(id)
      } until: {
        $0["attempts"] == 1 && $0["state"] == "queued"
      }
      let retried = try await world.command("/v1/mutations/\(id)/retry")
      #expect(retried.status == 200)
      #expect(retried.id == id, "\(retried.body)")
      #expect(retried.body["state"] == "queued")
      #expect(retried.body["attempts"] == 1)
      await world.stop()
      await upstream.stop()
    }
  }
}
