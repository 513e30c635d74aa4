import LosslessJSON
import Model
import Push
import Testing

@testable import Gateway

struct PushTemplateTests {
  @Test func putsFieldsIntoTheirPlaces() throws {
    let template = try PushTemplate("{sender}: {text} {{at}} {gone}!")
    #expect(template.fields == ["sender", "text", "gone"])
    let text = template.text(bytesMax: 100) { ["sender": "Ada", "text": "{x}"][$0] }
    #expect(text == "Ada: {x} {at} !")
  }

  @Test(arguments: ["{", "}", "{a", "a}", "{}", "{a{b}}", "{{a}"])
  func refusesBracesAroundNothing(source: String) {
    #expect(throws: PushTemplate.Fault.loneBrace) { try PushTemplate(source) }
  }

  @Test func isCutBetweenCharacters() throws {
    let text = try PushTemplate("{text}").text(bytesMax: 5) { _ in "aäöü" }
    #expect(text == "aäö")
  }

  // MARK: Rules

  private static func rule(_ recipients: String, chat: String? = nil) throws -> PushRule {
    PushRule(
      type: "Message", event: .insert, recipients: recipients, chat: chat,
      text: try PushTemplate("{text}"))
  }

  private static func saying(_ fields: String, to recipients: String = "to") throws
    -> PushRule.Saying?
  {
    try rule(recipients, chat: "chat").saying(
      of: EntityKey(type: "Message", key: "1"), Array(fields.utf8))
  }

  @Test(
    arguments: [
      (#"["a","b","a",null]"#, ["a", "b"]), (#""a""#, ["a"]), ("[7]", ["7"]),
      (#"[{"$ref":["User","u1"]},{"$ref":["User","u2"]}]"#, ["u1", "u2"]),
      (#"{"$ref":["User","u1"]}"#, ["u1"]), (#"["","\u0000"]"#, []),
    ])
  func tellsWhomAFieldNames(field: String, ids: [String]) throws {
    let told = try Self.saying(#"{"text":"x","to":\#(field)}"#)
    #expect((told?.userIDs ?? []) == ids)
  }

  @Test func saysNothingWithoutAText() throws {
    #expect(try Self.saying(#"{"text":" ","to":["a"]}"#) == nil)
    #expect(try Self.saying(#"{"text":"x"}"#) == nil)
    let told = try #require(try Self.saying(#"{"text":"x","to":["a"],"chat":7}"#))
    #expect(told.message.data == ["chatId": "7", "type": "Message", "id": "1"])
  }
}
