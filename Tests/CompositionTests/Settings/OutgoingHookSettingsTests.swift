import Gateway
import Model
import Testing

@testable import Composition

struct OutgoingHookSettingsTests {
  private static let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let url = "https://api.example.com/hooks"

  @Test("Hooks are read with their defaults, and shown without their secrets")
  func readsHooks() throws {
    let yaml = """
      hooks:
        outSecret: whsec_\(Self.secret)
        out:
          - {on: Trip insert, when: before, url: "\(Self.url)", timeout: 500ms, onTimeout: allow}
          - on: mutation BookTrip parked
            when: after
            name: booked
            url: http://localhost:9000/x
            secret: [\(Self.secret), whsec_\(Self.secret)]
      """
    let loaded = try SettingsFixture(yaml: yaml).load()
    let hooks = loaded.settings.outgoingHooks
    #expect(hooks.map(\.name) == ["Trip insert before", "booked"])
    #expect(hooks[0].trigger == .write(type: "Trip", .insert) && hooks[0].unanswered == .allow)
    #expect(hooks[0].timeout == .milliseconds(500) && hooks[0].secrets.isEmpty)
    #expect(hooks[1].trigger == .outcome(operation: "BookTrip", .parked))
    #expect(hooks[1].moment == .after && hooks[1].timeout == .seconds(2))
    #expect(hooks[1].secrets.count == 2)
    #expect(loaded.settings.outgoingHookSecrets.count == 1)
    let dump = SettingsDump.yaml(loaded)
    #expect(!dump.contains("MfKQ9r8GKY"), "\(dump)")
    #expect(dump.contains("mutation BookTrip parked"), "\(dump)")
  }

  @Test("The shared secret can come from the environment")
  func readsSecretFromEnvironment() throws {
    let fixture = SettingsFixture(
      yaml: "hooks: {out: [{on: Trip insert, when: after, url: \"\(Self.url)\"}]}",
      environment: ["LARDER_HOOKS_OUT_SECRET": Self.secret])
    #expect(try fixture.load().settings.outgoingHookSecrets.map(\.revealed) == [Self.secret])
  }

  @Test(
    "Faults of hooks are reported, all at once and without secrets",
    arguments: [
      ("{}", ["a hook needs `on`", "a hook needs `when`", "a hook needs `url`"]),
      ("{on: Trip insert, when: after, url: \"\(url)\"}", ["`secret` is missing"]),
      (
        "{on: Trip insert, when: after, url: \"\(url)\", secret: MfKQ9r8GKY}",
        ["`secret` must be 24 to 64 bytes in base64"]
      ),
      (
        "{on: Trip inserted, when: later, url: \"ftp://x\", secret: \(secret), timeout: 1h}",
        [
          "`on` must be `<Type> insert|update|delete`", "`when` of a hook must be before or after",
          "`url` of a hook must be a URL",
          "`timeout` of a hook must be a duration from 100ms to 30s",
        ]
      ),
      (
        "{on: mutation A applied, when: before, url: \"\(url)\", secret: \(secret)}",
        ["the outcome of a mutation cannot be refused"]
      ),
      (
        "{on: Trip insert, when: after, url: \"\(url)\", secret: \(secret), onTimeout: allow}",
        ["`onTimeout` needs `when: before`"]
      ),
      (
        "{on: Trip insert, when: after, url: \"\(url)\", secret: \(secret), onTimeOut: allow}",
        ["a hook has no `onTimeOut`. Did you mean \"onTimeout\" or \"timeout\"?"]
      ),
      (
        "{on: A insert, when: after, url: \"\(url)\", secret: \(secret)}, "
          + "{on: A insert, when: after, url: \"\(url)\", secret: \(secret)}",
        ["two hooks called `A insert after`; give them a `name` each"]
      ),
    ] as [(String, [String])])
  func reportsFaults(hooks: String, expected: [String]) {
    let faults = SettingsFixture(yaml: "hooks: {out: [\(hooks)]}").faults()
    #expect(faults.count == expected.count, "\(faults)")
    for part in expected { #expect(faults.contains { $0.contains(part) }, "\(faults)") }
    let report = SettingsFixture(yaml: "hooks: {out: [\(hooks)]}").report()
    #expect(!report.contains("MfKQ9r8GKY"), "\(report)")
  }
}
