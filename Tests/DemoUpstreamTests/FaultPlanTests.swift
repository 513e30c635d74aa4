import LosslessJSON
import Testing

@testable import DemoUpstream

struct FaultPlanTests {
  private static func words(_ plan: inout FaultPlan, _ operations: [String]) -> [String] {
    var random = SeededRandom(seed: 1)
    return operations.map { plan.decide(for: $0, random: &random).fail.word }
  }

  @Test("Every nth request fails, the set number of times")
  func failsEveryNth() {
    var switches = DemoSwitches()
    switches.fail = .status(500)
    switches.every = 2
    switches.times = 2
    var plan = FaultPlan(switches)
    let words = Self.words(&plan, Array(repeating: "A", count: 7))
    #expect(words == ["off", "500", "off", "500", "off", "off", "off"])
    #expect(plan.switches.fail == .off)
  }

  @Test("Only the named operations are affected")
  func affectsOnlyNamedOperations() {
    var switches = DemoSwitches()
    switches.fail = .html
    switches.latency = .seconds(1)
    switches.operations = ["B"]
    var plan = FaultPlan(switches)
    #expect(Self.words(&plan, ["A", "B", "A"]) == ["off", "html", "off"])
    var random = SeededRandom(seed: 1)
    #expect(plan.decide(for: "A", random: &random).delay == .zero)
    #expect(plan.decide(for: "B", random: &random).delay == .seconds(1))
  }

  @Test("The jitter stays within its bounds")
  func jitterStaysWithinItsBounds() {
    var switches = DemoSwitches()
    switches.latency = .milliseconds(100)
    switches.jitter = .milliseconds(50)
    var plan = FaultPlan(switches)
    var random = SeededRandom(seed: 5)
    let delays = (0..<200).map { _ in plan.decide(for: "A", random: &random).delay }
    #expect(delays.allSatisfy { $0 >= .milliseconds(100) && $0 < .milliseconds(150) })
    #expect(Set(delays).count > 100)
  }

  @Test(
    "The names of fail modes are read and written",
    arguments: [
      "off", "refuse", "hang", "html", "broken-json", "half-body", "oversize",
      "graphql-errors", "partial", "500", "429", "503",
    ])
  func failModesRoundTrip(word: String) {
    #expect(FailMode(word: word)?.word == word)
  }

  @Test(
    "Unknown fail modes are refused",
    arguments: ["", "on", "200", "600", "-500", "HTML"])
  func refusesUnknownModes(word: String) {
    #expect(FailMode(word: word) == nil)
  }

  @Test("JSON sets the given switches and keeps the others")
  func setsGivenSwitches() throws {
    var switches = DemoSwitches()
    switches.every = 3
    let json: JSONValue = [
      "latencyMs": 20, "fail": 503, "times": 1, "operations": ["A"], "takesEffect": true,
    ]
    try switches.apply(json.members ?? [])
    #expect(switches.latency == .milliseconds(20) && switches.fail == .status(503))
    #expect(switches.every == 3 && switches.times == 1 && switches.takesEffect)
    #expect(switches.json["latencyMs"] == 20 && switches.json["fail"] == "503")
  }

  @Test(
    "Invalid switches are refused",
    arguments: [
      ["latencyMs": -1], ["latencyMs": "1"], ["fail": "x"], ["every": 0], ["unknown": 1],
      ["operations": "A"], ["takesEffect": 1], ["oversizeBytes": 99_999_999_999],
    ] as [JSONValue])
  func refusesInvalidSwitches(json: JSONValue) {
    var switches = DemoSwitches()
    #expect(throws: DemoSwitches.BadMember.self) { try switches.apply(json.members ?? []) }
  }

  @Test("The mode refuse gets a default duration over HTTP")
  func refuseHasDefaultDuration() throws {
    var switches = DemoSwitches()
    try switches.apply([JSONMember("fail", "refuse")])
    #expect(switches.refuseFor != nil)
    try switches.apply([JSONMember("fail", "off")])
    #expect(switches.refuseFor == nil)
  }
}
