import Foundation
import Testing

@testable import Larder

struct JSONTests {
  @Test(
    "Texts are read and written with the digits of their numbers",
    arguments: [
      "null", "true", "[]", "{}", "0.10", "-0", "9223372036854775808", "1e+400",
      #"{"a":[1,2.50,{"b":"x"}],"c":null}"#, #""é\u0001\"\\""#,
    ])
  func keepsDigits(_ text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
  }

  @Test("Escapes and surrogates are read as what they stand for")
  func readsEscapes() throws {
    let text = #""\u00e9\uD83C\uDFAC\n\/ \ud800""#
    #expect(try JSONValue(parsing: text) == .string("é🎬\n/ \u{FFFD}"))
  }

  @Test(
    "What is no JSON is refused",
    arguments: [
      "", "nul", "01", "1.", "-", "1e", "[1,]", "{\"a\"}", "{a:1}", "\"\u{1}\"", "\"", "1 2",
      #""\x""#, #""\u12""#,
    ])
  func refusesOthers(_ text: String) {
    #expect(throws: LarderError.self) { try JSONValue(parsing: text) }
  }

  @Test("200 levels are read, and 201 are refused")
  func limitsLevels() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    _ = try JSONValue(parsing: nested(200))
    #expect(throws: LarderError.self) { try JSONValue(parsing: nested(201)) }
  }

  @Test("A text that is cut anywhere is refused")
  func refusesCutTexts() {
    let text = Array(#"{"a":[1,-2.5e3,true,null,"x\u00e9\n"],"b":{"c":"é"}}"#.utf8)
    for count in 0..<text.count {
      #expect(throws: LarderError.self) { try JSONValue(parsing: text[..<count]) }
    }
  }

  struct Sample: Codable, Hashable {
    var when: Date
    var big: Int64
    var price: Decimal
    var extra: JSONValue
  }

  @Test("Generated types are encoded and decoded without loss")
  func codesTypes() throws {
    let sample = Sample(
      when: Date(timeIntervalSince1970: 1_700_000_000.25), big: .max,
      price: try #require(Decimal(string: "0.1")),
      extra: ["list": [1, "two", nil, true], "number": 2.5])
    let json = try JSONValue(encoding: sample)
    #expect(json["when"] == "2023-11-14T22:13:20.250Z")
    #expect(json["big"]?.int == Int(Int64.max))
    #expect(try json.decoded(as: Sample.self) == sample)
  }
}
