import LosslessJSON
import Push
import Testing

struct PushMessageTests {
  @Test func theConversationWinsOverDataOfItsName() {
    let message = PushMessage(
      text: "Hi", chatID: "c1", data: [JSONMember("chatId", "other"), JSONMember("a", 1)])
    #expect(message.data == ["chatId": "c1", "a": 1])
    #expect(message.chatID == "c1")
  }

  @Test(arguments: [nil, "Heading"])
  func isKeptWhole(heading: String?) {
    let message = PushMessage(text: "Hi", heading: heading, chatID: nil, data: [])
    #expect(PushMessage(json: message.json) == message)
  }

  @Test(arguments: [[:], ["text": 1, "data": [:]], ["text": "a", "data": []]] as [JSONValue])
  func nothingElseIsRead(json: JSONValue) {
    #expect(PushMessage(json: json) == nil)
  }
}
