import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

/// Very many messages at once: most of them forged or replayed, and the others out of order.
struct HookFloodTests {
  private static let messages = 100_000
  private static let senders = 32
  /// Distinct events, each later than the one before it, and the entities that they are of in turn.
  private static let events = 2_500
  private static let entities = 100

  private struct Counts {
    var sent: Set<Int> = []
    var applied = 0
    var repeated = 0
    var refused = 0

    var total: Int { applied + repeated + refused }

    mutating func add(_ other: Counts) {
      sent.formUnion(other.sent)
      applied += other.applied
      repeated += other.repeated
      refused += other.refused
    }
  }

  private static func event(_ number: Int) -> JSONValue {
    let microseconds = String(1_000_000 + number).dropFirst()
    return HookWorld.event(
      "UPDATE", id: "e\(number)",
      new: ["item_id": .string("\(number % entities)"), "name": .string("n\(number)")],
      created: "2026-01-02T03:04:05.\(microseconds)Z")
  }

  private static func send(
    _ count: Int, _ random: SeededGenerator, to world: HookWorld
  ) async throws -> Counts {
    var random = random
    var counts = Counts()
    let now = "\(world.clock.clock.now().milliseconds / 1_000)"
    let forged = HookService.Credentials(
      id: "m", timestamp: now, signature: "v1,\(Base64.encode(Array(repeating: 3, count: 32)))",
      secret: nil)
    let body = Array(#"{"updates":[{"__typename":"Item","id":"0","name":"forged"}]}"#.utf8)
    for _ in 0..<count {
      let number = Int.random(in: 0..<events, using: &random)
      do throws(Failure) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...4:
          _ = try world.service.admit(
            "hasura",
            HookService.Credentials(id: nil, timestamp: nil, signature: nil, secret: "\(number)"))
        case 5:
          _ = try await world.service.receive(body, try world.service.admit("plain", forged))
        default:
          counts.sent.insert(number)
          let admission = try world.service.admit(
            "hasura",
            HookService.Credentials(
              id: nil, timestamp: nil, signature: nil, secret: HookWorld.secret))
          switch try await world.service.receive(event(number).bytes, admission) {
          case .applied: counts.applied += 1
          case .repeated: counts.repeated += 1
          case .ignored(let reason): Issue.record("\(number) is ignored: \(reason)")
          }
        }
      } catch {
        #expect(error.code == .webhookUnauthenticated, "\(error)")
        counts.refused += 1
      }
    }
    return counts
  }

  @Test(
    "Of 100,000 messages, forged, replayed and out of order, the newest values are stored once",
    arguments: [UInt64(11)])
  func storesTheNewest(seed: UInt64) async throws {
    let world = try HookWorld()
    let counts = try await withThrowingTaskGroup(of: Counts.self) { group in
      for sender in 0..<Self.senders {
        group.addTask {
          try await Self.send(
            Self.messages / Self.senders, SeededGenerator(seed: seed &+ UInt64(sender)), to: world)
        }
      }
      return try await group.reduce(into: Counts()) { $0.add($1) }
    }
    #expect(counts.total == Self.messages, "seed \(seed)")
    #expect(counts.applied == counts.sent.count && counts.repeated > counts.applied, "seed \(seed)")
    #expect(counts.refused > Self.messages / 2, "seed \(seed)")
    for entity in 0..<Self.entities {
      let newest = counts.sent.filter { $0 % Self.entities == entity }.max()
      let stored = try await world.fields("Item", "\(entity)")?["name"]?.string
      #expect(stored == newest.map { "n\($0)" }, "seed \(seed), item \(entity)")
    }
    // What is kept is one row for each event; strangers leave nothing.
    #expect(try await world.store.hookEventCounts() == ["hasura": counts.sent.count])
    let outcomes = world.service.summaries.map(\.counts.outcomes)
    #expect(outcomes.compactMap { $0[.refused] }.reduce(0, +) == counts.refused)
    #expect(outcomes.compactMap { $0[.repeated] }.reduce(0, +) == counts.repeated)
    let call = world.calls.begin()
    #expect(world.calls.horizon(of: call) == call, "no call is left in flight")
  }
}
