import Synchronization
import TestSupport
import Testing
import Transport

@testable import Gateway

/// Turns of lanes.
@Suite(.timeLimit(.minutes(10))) struct LaneTurnsTests {
  private final class Log: Sendable {
    private let names = Mutex<[String]>([])
    private let peaks = Mutex<(running: [String: Int], most: [String: Int])>(([:], [:]))

    var order: [String] { names.withLock { $0 } }

    func begin(_ name: String) {
      names.withLock { $0.append(name) }
      peaks.withLock { peaks in
        peaks.running[name, default: 0] += 1
        peaks.running["all", default: 0] += 1
        for lane in [name, "all"] {
          peaks.most[lane] = max(peaks.most[lane, default: 0], peaks.running[lane, default: 0])
        }
      }
    }

    func end(_ name: String) {
      peaks.withLock { peaks in
        peaks.running[name, default: 0] -= 1
        peaks.running["all", default: 0] -= 1
      }
    }

    func most(_ name: String) -> Int { peaks.withLock { $0.most[name] ?? 0 } }
  }

  private static func wait(_ turns: LaneTurns<String>, for count: Int) async throws {
    try #require(
      await eventuallyHolds { turns.count == count }, "\(turns.count) parts instead of \(count)")
  }

  @Test("A lane with a thousand waiting parts delays another by one part")
  func lanesTakeTurns() async throws {
    let turns = LaneTurns<String>(laneMax: 1, max: 1)
    let log = Log()
    let gate = AsyncSignal()
    let first = Task {
      await turns.run(["busy"]) { await gate.wait() }
    }
    try await Self.wait(turns, for: 1)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 {
        group.addTask { await turns.run(["busy"]) { log.begin("busy") } }
      }
      try? await Self.wait(turns, for: 1_001)
      group.addTask { await turns.run(["other"]) { log.begin("other") } }
      try? await Self.wait(turns, for: 1_002)
      gate.notify()
    }
    await first.value
    let place = try #require(log.order.firstIndex(of: "other"))
    #expect(place <= 1, "it ran after \(place) others")
    #expect(log.order.count == 1_001)
    #expect(turns.count == 0)
  }

  @Test("A lane leaves places to others, and a part runs in the least busy of its lanes")
  func lanesLeavePlaces() async throws {
    let turns = LaneTurns<String>(laneMax: 2, max: 3)
    let gate = AsyncSignal()
    let busy = Task {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask { await turns.run(["busy"]) { await gate.wait() } }
        }
      }
    }
    try await Self.wait(turns, for: 20)
    // Both run although twenty parts of the other lane wait or run.
    await turns.run(["other"]) {}
    await turns.run(["busy", "other"]) {}
    gate.notify()
    await busy.value
    #expect(turns.count == 0)
  }

  @Test(
    "No lane has more than its places, and none of its parts is lost",
    arguments: [1, 2, 3] as [UInt64])
  func limitsHold(seed: UInt64) async {
    struct Chance: SeededChance { var generator: SeededGenerator }
    var chance = Chance(generator: SeededGenerator(seed: seed))
    let turns = LaneTurns<String>(laneMax: 2, max: 5)
    let log = Log()
    let lanes = ["a", "b", "c", "d"]
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<400 {
        let lane = lanes[chance.number(0...3)]
        let yields = chance.number(0...5)
        group.addTask {
          await turns.run([lane]) {
            log.begin(lane)
            for _ in 0..<yields { await Task.yield() }
            log.end(lane)
          }
        }
      }
    }
    for lane in lanes { #expect(log.most(lane) <= 2, "seed \(seed), lane \(lane)") }
    #expect(log.most("all") <= 5, "seed \(seed)")
    #expect(log.order.count == 400, "seed \(seed)")
    #expect(turns.count == 0, "seed \(seed)")
  }
}
