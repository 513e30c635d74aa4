import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` under phones that enqueue mutations, while upstream is slow, unavailable or failing, or loses
  /// responses after the effect.
  struct QueueKillTests {
    private static let rounds = 8
    /// The time in which the queue drains at the end.
    private static let drainSecondsMax = 60
    private static let settings = "queue: {probe: 1s, forceDeadline: 1s}"

    @Test("kill -9: no accepted mutation is lost or done twice", arguments: [UInt64(1_895)])
    func acceptedMutationsAreDoneOnce(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      var options = DemoOptions(now: { Int64(Date().timeIntervalSince1970) })
      options.recentMax = 1_000_000
      let demo = DemoServer(options)
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url, settings: Self.settings)
      let tokens = try await KilledService.register(QueueLoad.phones, in: folder)
      let enqueued = EnqueuedMutations()
      for round in 0..<Self.rounds {
        let trouble = Self.trouble(round, &random)
        try await demo.change { $0 = trouble }
        let before = enqueued.acknowledgedCount
        try await Self.loadAndKill(
          folder, tokens, enqueued, round: round, random: &random)
        #expect(
          enqueued.acknowledgedCount > before || trouble.fail == .refuse,
          "seed \(seed), round \(round)")
        #expect(try StoredFiles(of: folder).faults() == [], "seed \(seed), round \(round)")
      }
      #expect(enqueued.faults == [], "seed \(seed)")
      try await demo.change { $0 = DemoSwitches() }
      let larder = try await LarderProcess.serve(folder)
      let check = QueueKillCheck(port: larder.port, tokens: tokens, note: "seed \(seed)")
      try await check.drained(withinSeconds: Self.drainSecondsMax)
      try await check.acknowledged(enqueued.acknowledged)
      try await check.upstream(demo.report)
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      await demo.stop()
    }

    /// Each kind of failure in turn, with a random strength.
    private static func trouble(_ round: Int, _ random: inout SeededGenerator) -> DemoSwitches {
      var switches = DemoSwitches()
      switches.latency = .milliseconds(Int.random(in: 0...20, using: &random))
      switches.jitter = .milliseconds(Int.random(in: 0...30, using: &random))
      switches.every = Int.random(in: 2...3, using: &random)
      switches.takesEffect = true
      switches.fail =
        [
          .off, .halfBody, .status(503), .refuse, .brokenJSON, .hang, .halfBody, .off,
        ][round % 8]
      return switches
    }

    /// Runs the load until some more mutations were accepted, and kills the service some milliseconds later.
    private static func loadAndKill(
      _ folder: ServiceFolder, _ tokens: [String], _ enqueued: EnqueuedMutations, round: Int,
      random: inout SeededGenerator
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let seeds = tokens.map { _ in random.next() }
      await KilledService.load(
        larder, at: .init(after: 10..<120, random: &random),
        count: { enqueued.acknowledgedCount },
        clients: seeds.enumerated().map { phone, seed in
          { port in
            var load = QueueLoad(
              port: port, phone: phone, token: tokens[phone], round: round,
              enqueued: enqueued, random: SeededGenerator(seed: seed))
            load.run()
          }
        })
    }
  }
}

/// Checks the outcome of every enqueued mutation at a service that was killed repeatedly, and at the upstream
/// that it calls.
struct QueueKillCheck {
  private static let pageMax = 200

  let port: Int
  let tokens: [String]
  /// The seed and round, for messages: enough to run a failure again.
  let note: String

  /// The queue drains by itself.
  func drained(withinSeconds seconds: Int) async throws {
    let isDrained = await Moment.comes(withinSeconds: seconds) {
      for phone in tokens.indices {
        guard try await get("/v1/queue", phone)["pending"] == 0 else { return false }
      }
      return true
    }
    #expect(isDrained, "\(note): the queues have not drained")
    for phone in tokens.indices {
      let queue = try await get("/v1/queue", phone)
      #expect(queue == ["pending": 0, "parked": 0, "state": "running"], "\(note): \(queue)")
    }
  }

  /// Each accepted mutation is there under its id, has finished, and its key makes no other.
  func acknowledged(_ mutations: [EnqueuedMutations.Mutation]) async throws {
    #expect(mutations.count > 100, "\(note): hardly anything was taken")
    for mutation in mutations {
      let id = mutation.id ?? ""
      let shown = try await get("/v1/mutations/\(id)", mutation.device)
      let state = shown["sharedState"]?.string ?? shown["state"]?.string
      #expect(state == "applied", "\(note): \(mutation.key) \(shown)")
      let again = try await post(mutation)
      #expect(again["idempotency-replayed"] == "true", "\(note): \(mutation.key) \(again.text)")
      let replayed = try JSONValue(parsing: again.body)["id"]?.string
      #expect(replayed == id, "\(note): \(mutation.key) is two mutations")
    }
  }

  /// Upstream executed each mutation once, and those of one film in the order in which the phone enqueued
  /// them.
  func upstream(_ report: DemoReport) async throws {
    var applied = 0
    for phone in tokens.indices {
      let mutations = try await all(phone)
      #expect(Set(mutations.map(\.id)).count == mutations.count, "\(note)")
      applied += mutations.count { $0.state == "applied" }
      for place in 0..<QueueLoad.filmsPerPhone {
        let film = QueueLoad.film(place, of: phone)
        let expected = mutations.filter { $0.object == "Film:\(film)" && $0.state == "applied" }
        var came: [String] = []
        for request in report.recent where request.variables["id"]?.string == film {
          guard let key = request["idempotency-key"], came.last != key else { continue }
          came.append(key)
        }
        #expect(came == expected.map(\.id), "\(note): \(film) came in another order")
      }
    }
    let executed = report["RateFilm"].executed + report["UpdateFilm"].executed
    #expect(executed == applied, "\(note)")
    #expect(report["RateFilm"].replayed + report["UpdateFilm"].replayed > 0, "\(note)")
  }

  private struct ReportedMutation {
    let id: String
    let state: String
    let object: String
  }

  /// A phone's mutations, in the order in which they were enqueued.
  private func all(_ phone: Int) async throws -> [ReportedMutation] {
    var told: [ReportedMutation] = []
    var after: String?
    repeat {
      let target = "/v1/mutations?limit=\(Self.pageMax)" + (after.map { "&after=\($0)" } ?? "")
      let page = try await get(target, phone)
      for item in page["items"]?.array ?? [] {
        told.append(
          ReportedMutation(
            id: item["id"]?.string ?? "", state: item["state"]?.string ?? "",
            object: item["object"]?.string ?? ""))
      }
      after = page["next"]?.string
    } while after != nil
    return told.reversed()
  }

  private func get(_ target: String, _ phone: Int) async throws -> JSONValue {
    let (port, headers) = (port, QueueLoad.headers(phone, token: tokens[phone]))
    return try await onOwnThread {
      try JSONValue(
        parsing: RawClient(port: port).request("GET", target, headers: headers).body)
    }
  }

  private func post(_ mutation: EnqueuedMutations.Mutation) async throws -> RawResponse {
    let headers =
      QueueLoad.headers(mutation.device, token: tokens[mutation.device])
      + [("Idempotency-Key", mutation.key)]
    let port = port
    return try await onOwnThread {
      try RawClient(port: port).request(
        "POST", "/v1/mutations", headers: headers, body: mutation.body)
    }
  }
}
