import LosslessJSON
import Testing

@testable import Gateway

struct PushMessageTests {
  @Test("The conversation id replaces a data member of its name")
  func conversationReplacesMember() {
    let message = PushMessage(
      text: "Hi", chatID: "c1", data: [JSONMember("chatId", "other"), JSONMember("a", 1)])
    #expect(message.data == ["chatId": "c1", "a": 1])
    #expect(message.chatID == "c1")
  }

  @Test("A message survives a round trip through JSON", arguments: [nil, "Heading"])
  func roundTrip(heading: String?) {
    let message = PushMessage(text: "Hi", heading: heading, chatID: nil, data: [])
    #expect(PushMessage(json: message.json) == message)
  }

  @Test(
    "Malformed JSON is not read as a message",
    arguments: [[:], ["text": 1, "data": [:]], ["text": "a", "data": []]] as [JSONValue])
  func malformedJSON(json: JSONValue) {
    #expect(PushMessage(json: json) == nil)
  }
}

struct PushOutcomeTests {
  @Test("The raw values are the names in the API")
  func rawValues() {
    #expect(PushOutcome.allCases.map(\.rawValue) == ["queued", "sent", "invalid", "failed"])
  }
}
