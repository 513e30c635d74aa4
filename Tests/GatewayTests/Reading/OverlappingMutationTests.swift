import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

/// Mutations whose responses overtake each other, and reads beside them. All that is written goes
/// through here, so what is served without asking upstream must be what upstream holds.
struct OverlappingMutationTests {
  /// One call of a run, by the moments at which it starts, takes effect and is answered.
  enum Kind: Sendable {
    case set(String)
    case drop
    case list
  }

  /// All ways to merge runs of three events each, as the numbers of the runs.
  private static func interleavings(of count: Int) -> [[Int]] {
    func extend(_ left: [Int]) -> [[Int]] {
      guard left.contains(where: { $0 > 0 }) else { return [[]] }
      return left.indices.filter { left[$0] > 0 }.flatMap { run in
        var rest = left
        rest[run] -= 1
        return extend(rest).map { [run] + $0 }
      }
    }
    return extend([Int](repeating: 3, count: count))
  }

  private struct Run {
    let kind: Kind
    var call: ItemUpstream.Call?
    var task: Task<Void, any Error>?
    var eventsSeen = 0
  }

  private static func begin(
    _ kind: Kind, _ world: ItemWorld
  ) async throws -> (call: ItemUpstream.Call, task: Task<Void, any Error>) {
    try await world.held {
      switch kind {
      case .set(let name): try await world.mutate("SetItem", ["id": "1", "name": .string(name)])
      case .drop: try await world.mutate("DropItem", ["id": "1"])
      case .list: _ = try await world.read(directives: ReadDirectives(noCache: true))
      }
    }
  }

  private static func play(_ kinds: [Kind], _ order: [Int], in world: ItemWorld) async throws {
    world.upstream.set("1", "before")
    _ = try await world.read(directives: ReadDirectives(noCache: true))
    var runs = kinds.map { Run(kind: $0) }
    for number in order {
      runs[number].eventsSeen += 1
      switch runs[number].eventsSeen {
      case 1:
        let begun = try await begin(runs[number].kind, world)
        (runs[number].call, runs[number].task) = (begun.call, begun.task)
      case 2: runs[number].call?.execute()
      default:
        runs[number].call?.respond()
        try await runs[number].task?.value
      }
    }
  }

  /// The one that began last.
  private static func last(_ order: [Int]) -> Int? {
    var seen: [Int] = []
    for number in order where !seen.contains(number) { seen.append(number) }
    return seen.last
  }

  @Test func ofTwoWritesTheLaterBegunStaysAndUpstreamDecides() async throws {
    let world = try ItemWorld()
    for order in Self.interleavings(of: 2) {
      try await Self.play([.set("A"), .set("B")], order, in: world)
      let expected = Self.last(order) == 0 ? "A" : "B"
      #expect(try await world.storedName(of: "1") == expected, "\(order)")
      let truth = world.upstream.items.mapValues(\.name)
      #expect(try await world.read().names == truth, "\(order)")
      #expect(try await world.storedName(of: "1") == truth["1"], "\(order)")
    }
  }

  @Test(arguments: [true, false])
  func aDeletionBesideAWriteEndsAtUpstreamsTruth(deletionFirst: Bool) async throws {
    let world = try ItemWorld()
    let kinds: [Kind] = deletionFirst ? [.drop, .set("A")] : [.set("A"), .drop]
    for order in Self.interleavings(of: 2) {
      try await Self.play(kinds, order, in: world)
      let isSet = (Self.last(order) == 0) != deletionFirst
      #expect(try await world.storedName(of: "1") == (isSet ? "A" : nil), "\(order)")
      let truth = world.upstream.items.mapValues(\.name)
      #expect(try await world.read().names == truth, "\(order)")
    }
  }

  @Test func whatIsServedBesideAReadIsUpstreamsTruth() async throws {
    let world = try ItemWorld()
    var random = SeededGenerator(seed: 7)
    for order in Self.interleavings(of: 3).shuffled(using: &random).prefix(300) {
      try await Self.play([.set("A"), .set("B"), .list], order, in: world)
      let truth = world.upstream.items.mapValues(\.name)
      #expect(try await world.read().names == truth, "\(order)")
    }
  }

  // MARK: Others write upstream too

  @Test func aReadThatShowedMoreThanTheLateResponseIsAskedForAgain() async throws {
    let world = try ItemWorld()
    _ = try await world.read()
    let (call, writing) = try await Self.begin(.set("mine"), world)
    call.execute()
    world.upstream.set("1", "theirs")
    _ = try await world.read(directives: ReadDirectives(noCache: true))
    call.respond()
    try await writing.value
    #expect(try await world.read().names["1"] == "theirs")
    #expect(try await world.storedName(of: "1") == "theirs")
  }

  @Test func aReadThatIsAnsweredAfterTheWriteItOverlapsIsAskedForAgain() async throws {
    let world = try ItemWorld()
    _ = try await world.read()
    let (write, writing) = try await Self.begin(.set("mine"), world)
    write.execute()
    world.upstream.set("1", "theirs")
    let (read, reading) = try await Self.begin(.list, world)
    read.execute()
    write.respond()
    try await writing.value
    read.respond()
    try await reading.value
    #expect(try await world.read().names["1"] == "theirs")
  }

  @Test func whatOthersDeletedMeanwhileDoesNotStay() async throws {
    let world = try ItemWorld()
    _ = try await world.read("Item", ["id": "1"])
    let (write, writing) = try await Self.begin(.set("mine"), world)
    write.execute()
    world.upstream.set("1", nil)
    for _ in 0..<2 {
      _ = try await world.read("Item", ["id": "1"], directives: ReadDirectives(noCache: true))
    }
    write.respond()
    try await writing.value
    _ = try await world.read("Item", ["id": "1"], directives: ReadDirectives(noCache: true))
    #expect(try await world.storedName(of: "1") == nil)
  }
}
