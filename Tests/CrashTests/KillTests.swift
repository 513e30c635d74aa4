import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` at random moments, repeatedly over the same data.
  struct KillTests {
    static let rounds = 12
    /// Far above the duration of a start: replaying a log must not become slow with its length.
    static let startMax = Duration.seconds(5)
    /// The responses of earlier rounds that each round checks; the last round checks all.
    static let sampleCount = 150

    @Test("kill -9 loses nothing that was acknowledged", arguments: [UInt64(20_261)])
    func acknowledgedDataSurvivesAKill(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let promises = Promises()
      for round in 0..<Self.rounds {
        let before = promises.answers
        try await demo.change { $0.fail = .off }
        try await loadAndKill(folder, promises: promises, round: round, random: &random)
        #expect(try StoredFiles(of: folder).faults() == [], "seed \(seed), round \(round)")

        try await demo.change { $0.fail = .refuse }
        let began = ContinuousClock.now
        let larder = try await LarderProcess.serve(folder)
        #expect(ContinuousClock.now - began < Self.startMax, "seed \(seed), round \(round)")
        let isLast = round == Self.rounds - 1
        let latest = promises.answers
        let sample = Set(
          before.keys.sorted { $0.target < $1.target }.shuffled(using: &random).prefix(
            Self.sampleCount))
        let reads = latest.filter { read, body in
          isLast || before[read] != body || sample.contains(read)
        }
        let check = PromiseCheck(port: larder.port, note: "seed \(seed), round \(round)")
        try await check.answers(reads)
        try await check.changes(promises.changes)
        try await check.deletions(promises.deleted)
        await larder.kill()
      }
      #expect(promises.answers.count > Self.rounds)
      #expect(!promises.changes.isEmpty && !promises.deleted.isEmpty)
      await demo.stop()
    }

    @Test(
      "A start that is killed does not keep the next one from starting", arguments: [UInt64(73)])
    func killedStartLeavesAUsableFolder(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      for round in 0..<10 {
        let larder = try LarderProcess.spawnService(folder)
        await Moment.passes(.milliseconds(Int.random(in: 0..<300, using: &random)))
        await larder.kill()
        if FileManager.default.fileExists(atPath: folder.databasePath) {
          #expect(try StoredFiles(of: folder).faults() == [], "seed \(seed), round \(round)")
        }
      }
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let answer = try await onOwnThread {
        try RawClient(port: port).request("GET", "/api/films/f1")
      }
      #expect(answer.isStored)
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    /// Runs the load until a random number of promises has been made, and kills the service some milliseconds
    /// later.
    private func loadAndKill(
      _ folder: ServiceFolder, promises: Promises, round: Int, random: inout SeededGenerator
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let seeds = (0..<WriteLoad.connections).map { _ in random.next() }
      await KilledService.load(
        larder, at: .init(after: 5..<120, random: &random), count: { promises.count },
        clients: seeds.enumerated().map { number, seed in
          { port in
            var load = WriteLoad(
              port: port, promises: promises, number: number, round: round,
              random: SeededGenerator(seed: seed))
            load.run()
          }
        })
    }
  }
}
