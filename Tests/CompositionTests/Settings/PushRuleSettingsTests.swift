import Gateway
import Testing

@testable import Composition

struct PushRuleSettingsTests {
  @Test("Push rules are read, and their dump loads again")
  func readsRulesAndDumpsThem() throws {
    let yaml = """
      push:
        rules:
          - {on: Message insert, to: recipientIds, text: "{sender}: {text}", chatId: chat}
          - on: Message update
            to: recipientIds
            heading: Changed
            text: "{{{text}}}"
      """
    let loaded = try SettingsFixture(yaml: yaml).load()
    let rules = loaded.settings.push.rules.map(\.rule)
    #expect(rules.map(\.name) == ["Message insert recipientIds", "Message update recipientIds"])
    #expect(rules.map(\.chat) == ["chat", nil])
    #expect(rules[0].text.fields == ["sender", "text"])
    #expect(rules[1].heading?.source == "Changed")
    #expect(rules[1].text.fields == ["text"])
    let again = try SettingsFixture(yaml: SettingsDump.yaml(loaded)).load()
    #expect(again.settings.push.rules.map(\.rule) == rules)
  }

  @Test(
    "Faults in push rules are reported",
    arguments: [
      ("[a]", ["in `push.rules`, a rule must be a section such as"]),
      ("[{on: Message, to: ids, text: x}]", ["`on` must be a type and insert or update"]),
      ("[{on: Message delete, to: ids, text: x}]", ["`on` must be a type and insert or update"]),
      ("[{on: M insert, to: 7a, text: x}]", ["`push.rules` must be a GraphQL name"]),
      ("[{on: M insert, to: ids, text: \"{a\"}]", ["a brace must enclose a field"]),
      ("[{on: M insert, to: ids, text: \"a}\"}]", ["a brace must enclose a field"]),
      ("[{on: M insert, to: ids, text: [x]}]", ["a rule's text must be a text, not a list"]),
      (
        "[{on: M insert, to: ids, txt: x}]",
        ["a rule has no `txt`. Did you mean \"text\"", "a rule needs `text`"]
      ),
      (
        "[{on: M insert, to: i, text: x}, {on: M insert, to: i, text: y}]",
        ["`push.rules` has a rule for `M insert i` twice"]
      ),
    ] as [(String, [String])])
  func reportsFaultsOfRules(rules: String, expected: [String]) {
    let faults = SettingsFixture(yaml: "push: {rules: \(rules)}").faults()
    #expect(faults.count == expected.count, "\(faults)")
    for part in expected { #expect(faults.contains { $0.contains(part) }, "\(faults)") }
  }
}
