import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Gateway

/// `no-cache` returns upstream's state at or after the request.
struct NoCacheTests {
  /// Holds the work until the test opens it.
  private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
      if isOpen { return }
      await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
      isOpen = true
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  private static let noCache = ReadDirectives(noCache: true)

  @Test("A no-cache request does not join a call that began before it")
  func joinsNoEarlierCall() async throws {
    let world = try ItemWorld()
    let (old, reading) = try await world.held { try await world.read() }
    old.execute()
    world.upstream.set("1", "new")
    let fresh = try await world.read(directives: Self.noCache)
    #expect(try fresh.names["1"] == "new")
    old.respond()
    // The older response stays the older one, whenever it arrives.
    #expect(try await reading.value.names["1"] == "new")
    #expect(try await world.read().names["1"] == "new")
    #expect(world.upstream.callCount == 2)
  }

  /// Many requests cost two concurrent calls and one that begins after one of these, not one each.
  @Test("Many no-cache requests share one call that has not begun")
  func sharesOneUnbegunCall() async throws {
    let flights = SingleFlight<String, Int>()
    let gate = Gate()
    let begun = Atomic(0)
    let joined = (0..<100).map { _ in
      flights.joinUnbegun("a") {
        let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
        await gate.pass()
        return number
      }
    }
    #expect(joined.filter(\.isNew).count == 3)
    #expect(flights.count == 3)
    // A caller that accepts a running call joins the newest.
    #expect(!flights.join("a") { 0 }.isNew)
    await gate.open()
    var outcomes: [Int] = []
    for (task, _) in joined { outcomes.append(await task.value) }
    #expect(Set(outcomes) == [1, 2, 3])
    #expect(outcomes.suffix(98).allSatisfy { $0 == 3 })
    #expect(flights.count == 0)
  }
}
