import DemoUpstream
import Foundation
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` under writes: every cursor continues exactly or is refused, and every earlier list can be
  /// brought up to date by a diff.
  struct CursorTests {
    private static let rounds = 4
    /// The number of a round's cursors that are checked.
    private static let cursorsLookedAt = 25

    @Test(
      "After kill -9 every cursor continues exactly or is refused",
      arguments: [(4_711, ""), (4_712, ChangeReader.marked)] as [(UInt64, String)])
    func cursorsContinueExactlyOrAreRefused(seed: UInt64, query: String) async throws {
      var random = SeededGenerator(seed: seed)
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      var continued = 0
      for round in 0..<Self.rounds {
        let (places, lists) = try await loadAndKill(
          folder, query, round: round, random: &random)
        let larder = try await LarderProcess.serve(folder)
        let port = larder.port
        let sample = places.shuffled(using: &random).prefix(Self.cursorsLookedAt)
        continued += try await onOwnThread {
          var snapshot = ChangeReader(port: port, query: query)
          let hasSnapshot = try snapshot.catchUp()
          #expect(hasSnapshot)
          #expect(!snapshot.held.isEmpty)
          let client = try RawClient(port: port)
          #expect(!lists.isEmpty)
          for list in lists {
            var list = list
            try list.takeDiff(client)
            #expect(try list.isCurrent(client), "seed \(seed), round \(round)")
          }
          var count = 0
          for place in sample + places.suffix(1) {
            var reader = ChangeReader(port: port, query: query, from: place)
            guard try reader.catchUp() else { continue }
            count += 1
            #expect(reader.held == snapshot.held, "seed \(seed), round \(round)")
          }
          return count
        }
        await larder.kill()
      }
      #expect(continued > Self.rounds, "seed \(seed) proves nothing")
      await demo.stop()
    }

    private func loadAndKill(
      _ folder: ServiceFolder, _ query: String, round: Int, random: inout SeededGenerator
    ) async throws -> ([ChangeReader.Place], [ListReader]) {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let promises = Promises()
      let seeds = (0..<3).map { _ in random.next() }
      let goal = Int.random(in: 20..<100, using: &random)
      async let places = onOwnThread {
        var reader = ChangeReader(port: port, query: query)
        reader.followUntilTheEnd()
        return reader.places
      }
      async let lists = onOwnThread { ListReader.followUntilTheEnd(port: port) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, seed) in seeds.enumerated() {
          group.addTask {
            try await onOwnThread {
              var load = WriteLoad(
                port: port, promises: promises, number: number, round: round,
                random: SeededGenerator(seed: seed))
              load.run()
            }
          }
        }
        let isUnderWay = await Moment.comes(withinSeconds: 30) { promises.count >= goal }
        #expect(isUnderWay, "\(larder.errors)")
        await larder.kill()
        try await group.waitForAll()
      }
      return try await (places, lists)
    }
  }
}
