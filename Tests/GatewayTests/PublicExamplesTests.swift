import LosslessJSON
import Testing

@testable import Gateway

struct PublicExamplesTests {
  private static func list(_ count: Int, text: Int = 10) -> JSONValue {
    .array((0..<count).map { _ in ["name": .string(String(repeating: "x", count: text))] })
  }

  @Test("Lists are cut at every depth, and nothing else is changed")
  func cutsLists() {
    let value: JSONValue = [
      "data": [
        "films": .array([["cast": Self.list(9), "year": 1990], ["cast": Self.list(1)], .null])
      ]
    ]
    #expect(
      PublicExamples.cut(value) == [
        "data": ["films": .array([["cast": Self.list(2), "year": 1990], ["cast": Self.list(1)]])]
      ])
    #expect(PublicExamples.cut("text") == "text")
  }

  @Test("What is too large with two elements is cut to one, and otherwise left out")
  func boundsSize() {
    #expect(PublicExamples.cut(Self.list(5, text: 1_500)) == Self.list(1, text: 1_500))
    #expect(PublicExamples.cut(Self.list(5, text: 3_000)) == nil)
    #expect(PublicExamples.cut(.string(String(repeating: "x", count: 2_046))) != nil)
    #expect(PublicExamples.cut(.string(String(repeating: "x", count: 2_047))) == nil)
  }
}
