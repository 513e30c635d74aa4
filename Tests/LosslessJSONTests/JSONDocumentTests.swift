import LosslessJSON
import Testing

struct JSONDocumentTests {
  @Test("Member order and number digits are kept")
  func keepsMemberOrderAndDigits() throws {
    let text = #"{"b":1.10,"a":9007199254740993,"c":[true,null,"x\u00e9"]}"#
    let root = try JSONDocument(text: text).root
    #expect(root.members.map(\.name) == ["b", "a", "c"])
    #expect(root["b"]?.rawText == "1.10")
    #expect(root["b"]?.number == JSONNumber(digits: "1.10"))
    #expect(root["a"]?.int64 == 9_007_199_254_740_993)
    #expect(root["a"]?.count == 0)
    #expect(root["c"]?.count == 3)
    #expect(root["missing"] == nil)
    #expect(JSONValue(root).text == #"{"b":1.10,"a":9007199254740993,"c":[true,null,"xé"]}"#)
  }

  @Test("The first of a repeated name is found")
  func findsTheFirstOfARepeatedName() throws {
    let root = try JSONDocument(text: #"{"a":1,"b":{"c":1},"\u0061":2}"#).root
    #expect(root["a"]?.int64 == 1)
    #expect(root.repeatedName == "a")
    #expect(root["b"]?.repeatedName == nil)
    #expect(root.members.filter { $0.isNamed("a") }.count == 2)
  }

  @Test(
    "Only exact 64-bit integers are read as such",
    arguments: [
      ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min), ("0", 0), ("-0", 0),
      ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e2", nil),
      ("123456789012345678901234567890", nil), ("\"1\"", nil), ("true", nil),
    ] as [(String, Int64?)])
  func readsExactIntegers(text: String, value: Int64?) throws {
    #expect(try JSONDocument(text: text).root.int64 == value)
    #expect(try JSONValue(parsing: text).int64 == value)
  }

  @Test(
    "Escapes are decoded",
    arguments: [
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC""#, "é€"),
      (#""a\uD83D\uDE00b""#, "a😀b"), (#""\uD83D""#, "\u{FFFD}"), (#""\uDE00x""#, "\u{FFFD}x"),
      (#""\uD83D\u0041""#, "\u{FFFD}A"), (#""\uD83D\uD83D\uDE00""#, "\u{FFFD}😀"),
      (#""\u0000""#, "\u{0}"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"), ("\"é\"", "é"),
    ])
  func decodesEscapes(text: String, value: String) throws {
    let root = try JSONDocument(text: text).root
    #expect(root.string == value)
    #expect(root.rawText == text)
  }

  @Test("Escaped member names are found")
  func findsEscapedNames() throws {
    let root = try JSONDocument(text: #"{"\u006eame":1,"other":2}"#).root
    #expect(root["name"]?.int64 == 1)
    #expect(root["name "] == nil)
  }

  @Test("A text inside a larger array is read")
  func readsARangeOfAnArray() throws {
    let bytes = Array("xx[1, 2]yy".utf8)
    let document = try JSONDocument(bytes, range: 2..<8)
    #expect(document.root[1]?.int64 == 2)
    #expect(document.root[1]?.range == 6..<7)
    let error = #expect(throws: JSONParseError.self) {
      _ = try JSONDocument(bytes, range: 2..<9)
    }
    #expect(error?.offset == 6)
  }

  @Test(
    "A document knows whether its text is compact",
    arguments: [("[1,2]", true), (" [1,2]\n", true), ("[1, 2]", false), ("\"a b\"", true)])
  func detectsCompactText(text: String, compact: Bool) throws {
    let document = try JSONDocument(text: text)
    #expect(document.isCompact == compact)
  }

  @Test("Whole values are skipped")
  func skipsWholeValues() throws {
    let text = #"{"a":[[1,{"x":[]}],{}],"b":{"c":{"d":1}},"e":5}"#
    let root = try JSONDocument(text: text).root
    #expect(root.count == 3)
    #expect(root["e"]?.int64 == 5)
    #expect(root["a"]?[1]?.isEmpty == true)
    #expect(root["a"]?[2] == nil)
    #expect(root["b"]?["c"]?["d"]?.int64 == 1)
    #expect(root["a"]?[0]?[0]?.hasSameText(as: try JSONDocument(text: "1").root) == true)
  }
}
