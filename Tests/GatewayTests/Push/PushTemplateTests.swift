import LosslessJSON
import Model
import Testing

@testable import Gateway

struct PushTemplateTests {
  @Test("Fields replace their placeholders")
  func replacesPlaceholders() throws {
    let template = try PushTemplate("{sender}: {text} {{at}} {gone}!")
    #expect(template.fields == ["sender", "text", "gone"])
    let text = template.text(bytesMax: 100) { ["sender": "Ada", "text": "{x}"][$0] }
    #expect(text == "Ada: {x} {at} !")
  }

  @Test(
    "Unmatched and empty braces are refused",
    arguments: ["{", "}", "{a", "a}", "{}", "{a{b}}", "{{a}"])
  func refusesUnmatchedBraces(source: String) {
    #expect(throws: PushTemplate.Fault.loneBrace) { try PushTemplate(source) }
  }

  @Test("A long text is cut between characters")
  func cutsBetweenCharacters() throws {
    let text = try PushTemplate("{text}").text(bytesMax: 5) { _ in "aäöü" }
    #expect(text == "aäö")
  }

  // MARK: Rules

  private static func rule(_ recipients: String, chat: String? = nil) throws -> PushRule {
    PushRule(
      type: "Message", event: .insert, recipients: recipients, chat: chat,
      text: try PushTemplate("{text}"))
  }

  private static func notification(_ fields: String, to recipients: String = "to") throws
    -> PushRule.Notification?
  {
    try rule(recipients, chat: "chat").notification(
      for: EntityKey(type: "Message", key: "1"), Array(fields.utf8))
  }

  @Test(
    "The receivers are the ids in the recipients field",
    arguments: [
      (#"["a","b","a",null]"#, ["a", "b"]), (#""a""#, ["a"]), ("[7]", ["7"]),
      (#"[{"$ref":["User","u1"]},{"$ref":["User","u2"]}]"#, ["u1", "u2"]),
      (#"{"$ref":["User","u1"]}"#, ["u1"]), (#"["","\u0000"]"#, []),
    ])
  func receivers(field: String, ids: [String]) throws {
    let found = try Self.notification(#"{"text":"x","to":\#(field)}"#)
    #expect((found?.userIDs ?? []) == ids)
  }

  @Test("Without text or receivers there is no notification")
  func nothingWithoutTextOrReceivers() throws {
    #expect(try Self.notification(#"{"text":" ","to":["a"]}"#) == nil)
    #expect(try Self.notification(#"{"text":"x"}"#) == nil)
    let found = try #require(try Self.notification(#"{"text":"x","to":["a"],"chat":7}"#))
    #expect(found.message.data == ["chatId": "7", "type": "Message", "id": "1"])
  }
}
