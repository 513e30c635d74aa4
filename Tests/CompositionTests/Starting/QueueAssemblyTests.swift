import Testing

@testable import Composition

struct QueueAssemblyTests {
  @Test(
    "An attempt is lost only after upstream's timeout, and after all that hooks can take",
    arguments: [
      ("10s", .zero, .seconds(30)), ("10s", .seconds(15), .seconds(30)),
      ("10s", .seconds(90), .seconds(100)), ("60s", .seconds(90), .seconds(130)),
    ] as [(String, Duration, Duration)])
  func answerDeadline(timeout: String, hooks: Duration, expected: Duration) throws {
    let settings = try SettingsFixture(yaml: "upstream:\n  timeout: \(timeout)\n").load().settings
    #expect(QueueAssembly.answerDeadline(settings, hookTimeMax: hooks) == expected)
  }
}
