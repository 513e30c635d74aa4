import LosslessJSON
import Testing

struct JSONDocumentTests {
  @Test func keepsMemberOrderAndDigits() throws {
    let text = #"{"b":1.10,"a":9007199254740993,"b":[true,null,"x\u00e9"]}"#
    let root = try JSONDocument(text: text).root
    #expect(root.members.map(\.name) == ["b", "a", "b"])
    #expect(root["b"]?.rawText == "1.10")
    #expect(root["a"]?.int64 == 9_007_199_254_740_993)
    #expect(root.repeatedName == "b")
    #expect(JSONValue(root).text == #"{"b":1.10,"a":9007199254740993,"b":[true,null,"xé"]}"#)
  }
}
