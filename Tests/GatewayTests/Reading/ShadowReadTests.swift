import LosslessJSON
import TestSupport
import Testing

@testable import Gateway

struct ShadowReadTests {
  @Test(
    "Differing fields are named by their paths, elements of lists together",
    arguments: [
      (#"{"a":1}"#, #"{"a":1}"#, []),
      (#"{"a":1}"#, #"{"a":1.0}"#, ["a"]),
      (#"{"a":{"b":[1,2]}}"#, #"{"a":{"b":[1,3]}}"#, ["a.b[]"]),
      (#"{"a":[{"t":1},{"t":2}]}"#, #"{"a":[{"t":3},{"t":4}]}"#, ["a[].t"]),
      (#"{"a":[1]}"#, #"{"a":[1,2]}"#, ["a"]),
      (#"{"a":1,"b":2}"#, #"{"b":2,"c":3}"#, ["a", "c"]),
      (#"{"a":null}"#, #"{"a":{}}"#, ["a"]),
      ("1", "2", ["data"]),
    ])
  func namesPaths(left: String, right: String, paths: [String]) throws {
    let left = try JSONValue(parsing: Array(left.utf8))
    let right = try JSONValue(parsing: Array(right.utf8))
    #expect(JSONDifference.paths(between: left, and: right, countMax: 9) == paths)
  }

  @Test("No more paths are collected than the limit")
  func boundsPaths() {
    func object(_ value: JSONValue) -> JSONValue {
      .object((0..<50).map { JSONMember("f\($0)", value) })
    }
    #expect(JSONDifference.paths(between: object(1), and: object(2), countMax: 20).count == 20)
  }

  /// Reads until the condition holds: each hit may begin a comparison, one at a time.
  private func read(
    _ world: ItemWorld, until holds: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    var looks = Looks()
    while looks.goOn {
      // The client gets the cached response: nothing of a comparison is stored.
      #expect(try await world.read("Compared").names["1"] == "one")
      if holds() { return }
      await looks.pause()
    }
    Issue.record("waited in vain", sourceLocation: sourceLocation)
  }

  @Test("A hit is compared with upstream, and a difference is logged without values once a minute")
  func logsADifference() async throws {
    let log = RecordedLog()
    let world = try ItemWorld(logger: log.logger)
    _ = try await world.read("Compared")
    world.upstream.set("1", "changed")
    func differences() -> [RecordedLog.Line] { log.lines.filter { $0.message.contains("differs") } }
    try await read(world) { !differences().isEmpty }
    let calls = world.upstream.callCount
    world.clock.advance(by: .seconds(30))
    try await read(world) { world.upstream.callCount > calls + 3 }
    #expect(differences().count == 1)
    let text = try #require(differences().first).text
    #expect(text.contains("items[].name") && !text.contains("changed"))
  }

  @Test("An operation without a share is not compared")
  func comparesNothingElse() async throws {
    let world = try ItemWorld()
    _ = try await world.read("Items")
    for _ in 0..<20 { _ = try await world.read("Items") }
    #expect(world.upstream.callCount == 1)
  }
}
