import LosslessJSON
import Testing

@testable import Gateway

struct PublicExamplesTests {
  private static func list(_ count: Int, text: Int = 10) -> String {
    let element = #"{"name":"\#(String(repeating: "x", count: text))"}"#
    return "[\(Array(repeating: element, count: count).joined(separator: ","))]"
  }

  private static func cut(_ text: String) throws -> String? {
    try PublicExamples.cut(JSONValue(parsing: text)).map {
      String(decoding: $0.bytes, as: UTF8.self)
    }
  }

  @Test("Lists are cut at every depth, and nothing else is changed")
  func cutsLists() throws {
    let long = #"{"data":{"films":[{"cast":\#(Self.list(9)),"year":1990},{"cast":[]},null]}}"#
    let short = #"{"data":{"films":[{"cast":\#(Self.list(2)),"year":1990},{"cast":[]}]}}"#
    #expect(try Self.cut(long) == short)
    #expect(try Self.cut(#""text""#) == #""text""#)
  }

  @Test("What is too large with two elements is cut to one, and otherwise left out")
  func boundsSize() throws {
    #expect(try Self.cut(Self.list(5, text: 1_500)) == Self.list(1, text: 1_500))
    #expect(try Self.cut(Self.list(5, text: 3_000)) == nil)
    let largest = PublicExamples.bytesMax - 2
    #expect(try Self.cut(#""\#(String(repeating: "x", count: largest))""#) != nil)
    #expect(try Self.cut(#""\#(String(repeating: "x", count: largest + 1))""#) == nil)
  }
}
