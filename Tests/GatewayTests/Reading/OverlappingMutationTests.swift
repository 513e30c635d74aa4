import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

/// Mutations whose responses overtake each other, and overlapping reads. All writes go through the
/// gateway, so cached responses must match upstream's state.
struct OverlappingMutationTests {
  /// One call of a run, with the moments at which it starts, takes effect and gets its response.
  enum Kind: Sendable {
    case set(String)
    case drop
    case list
  }

  /// Returns all interleavings of runs of three events each, as the numbers of the runs.
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

  /// Returns the run that began last.
  private static func last(_ order: [Int]) -> Int? {
    var seen: [Int] = []
    for number in order where !seen.contains(number) { seen.append(number) }
    return seen.last
  }

  @Test("Of two overlapping writes the later one stays until upstream is read again")
  func laterWriteStaysUntilRefetch() async throws {
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

  @Test(
    "A deletion that overlaps a write ends with upstream's state",
    arguments: [true, false])
  func overlappingDeletionEndsWithUpstreamState(deletionFirst: Bool) async throws {
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

  @Test("Writes that overlap a read never leave a state other than upstream's")
  func overlappingReadShowsUpstreamState() async throws {
    let world = try ItemWorld()
    var random = SeededGenerator(seed: 7)
    for order in Self.interleavings(of: 3).shuffled(using: &random).prefix(300) {
      try await Self.play([.set("A"), .set("B"), .list], order, in: world)
      let truth = world.upstream.items.mapValues(\.name)
      #expect(try await world.read().names == truth, "\(order)")
    }
  }

  // MARK: Others write upstream too

  @Test("A newer read than a late mutation response is fetched again")
  func newerReadIsFetchedAgain() async throws {
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

  @Test("A read whose response arrives after an overlapping write is fetched again")
  func overlappingReadIsFetchedAgain() async throws {
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

  @Test("An entity that others deleted during a write does not stay")
  func concurrentlyDeletedEntityDoesNotStay() async throws {
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
