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
      let tokens = try await QueueLoad.register(QueueLoad.phones, in: folder)
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
      let port = larder.port
      let seeds = tokens.map { _ in random.next() }
      let goal = enqueued.acknowledgedCount + Int.random(in: 10..<120, using: &random)
      let delay = Duration.microseconds(Int.random(in: 0..<20_000, using: &random))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (phone, seed) in seeds.enumerated() {
          group.addTask {
            try await onOwnThread {
              var load = QueueLoad(
                port: port, phone: phone, token: tokens[phone], round: round,
                enqueued: enqueued, random: SeededGenerator(seed: seed))
              load.run()
            }
          }
        }
        let isUnderWay = await Moment.comes(withinSeconds: 30) {
          enqueued.acknowledgedCount >= goal
        }
        #expect(isUnderWay, "\(larder.errors)")
        await Moment.passes(delay)
        await larder.kill()
        try await group.waitForAll()
      }
    }
  }
}
