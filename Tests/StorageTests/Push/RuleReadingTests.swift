import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// The notifications of rules do not depend on when the rules read.
struct RuleReadingTests {
  private static func films(_ random: inout SeededGenerator, call: Int64) -> NormalisedResponse {
    let scope = [Scope.public, .user("ada"), .user("bob")].randomElement(using: &random) ?? .public
    var builder = ResponseBuilder(call: call, scope: scope)
    for id in ["1", "2", "3"] where Bool.random(using: &random) {
      var film: JSONValue = ["rating": .number(JSONNumber(Int64.random(in: 0...2, using: &random)))]
      let title = Int.random(in: 0...3, using: &random)
      if title > 0 { film["title"] = .string("t\(title)") }
      builder = builder.film(id, film)
    }
    return builder.build()
  }

  @Test(
    "Commits give the same notifications whether read together or separately",
    arguments: 1...8 as ClosedRange<UInt64>)
  func notificationsDoNotDependOnReads(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var prompt = try await RuleFollower.open()
    var late = try await RuleFollower.open()
    for call in 1...40 as ClosedRange<Int64> {
      let response = Self.films(&random, call: call)
      _ = try await prompt.world.store.apply(response)
      _ = try await late.world.store.apply(response)
      try await prompt.poll()
      if Int.random(in: 0..<6, using: &random) == 0 {
        try await late.poll(isCutShort: Bool.random(using: &random))
      }
    }
    try await late.poll()
    #expect(late.notifications == prompt.notifications, "seed \(seed)")
    #expect(prompt.notifications.contains { $0.hasPrefix(RuleFollower.update) }, "seed \(seed)")
  }

  @Test("An entity that is created and changed between two reads is reported as both")
  func createdAndChangedAreReported() async throws {
    var follower = try await RuleFollower.open()
    for (call, title) in [(1, "one"), (2, "one"), (3, "two"), (4, "one")] as [(Int64, String)] {
      let film: JSONValue = ["title": .string(title), "rating": .number(JSONNumber(call))]
      _ = try await follower.world.store.apply(ResponseBuilder(call: call).film("1", film).build())
    }
    try await follower.poll()
    #expect(
      follower.notifications == [
        "\(RuleFollower.insert) 1 one at 1", "\(RuleFollower.update) 1 two at 3",
        "\(RuleFollower.update) 1 one at 4",
      ])
    #expect(try await follower.world.fixture.count("push_read") == 0)
  }

  /// The entity is new again, so states before its deletion are not reported.
  @Test("An entity deleted before it is read is not reported")
  func deletedEntityIsNotReported() async throws {
    var follower = try await RuleFollower.open()
    let store = follower.world.store
    _ = try await store.apply(ResponseBuilder(call: 1).film("1", ["title": "one"]).build())
    _ = try await store.apply(ResponseBuilder(call: 2).film("1", ["title": "two"]).build())
    _ = try await store.apply(ResponseBuilder(call: 3).deleting(.film("1")).build())
    try await follower.poll()
    #expect(follower.notifications.isEmpty)
    _ = try await store.apply(ResponseBuilder(call: 4).film("1", ["title": "three"]).build())
    try await follower.poll()
    #expect(follower.notifications == ["\(RuleFollower.insert) 1 three at 4"])
  }

  /// The oldest reported state counts as new.
  @Test("Only the latest states of an entity are reported")
  func onlyLatestStatesAreReported() async throws {
    var follower = try await RuleFollower.open()
    let count = Int64(RuleStates.statesMax) + 10
    for call in 1...count {
      _ = try await follower.world.store.apply(
        ResponseBuilder(call: call).film("1", ["title": .string("t\(call)")]).build())
    }
    try await follower.poll()
    #expect(follower.notifications.count == RuleStates.statesMax + 1)
    #expect(follower.notifications.last == "\(RuleFollower.update) 1 t\(count) at \(count)")
  }

  /// More changes than fit in one page; an entity of the first page changes before the next page is read.
  @Test("A change between two pages is reported once")
  func changeBetweenPagesIsReportedOnce() async throws {
    let world = try OutboxWorld()
    let store = world.store
    let start = try await store.ruleCursor(of: [RuleFollower.update], types: ["Film"])
    var response = ResponseBuilder(call: 1)
    for number in 0..<300 { response = response.film("\(number)", ["title": "x"]) }
    _ = try await store.apply(response.build())
    var changes: [String] = []
    var place: RulePlace?
    repeat {
      let page = try await store.ruleChanges(
        RuleQuery(types: ["Film"], since: start, scopes: nil, place: place))
      changes += page.changes.map { "\($0.entity.key) at \($0.revision.value)" }
      _ = try await store.record([], read: page.read, cursor: nil)
      if place == nil {
        _ = try await store.apply(ResponseBuilder(call: 2).film("0", ["title": "y"]).build())
      }
      place = page.next
    } while place != nil
    #expect(Set(changes) == Set((0..<300).map { "\($0) at 1" } + ["0 at 2"]))
    #expect(changes.count == 301)
  }
}
