import LosslessJSON
import TestSupport
import Testing

struct JSONValueTests {
  @Test("Members are written in order")
  func writesMembersInOrder() {
    let value: JSONValue = ["b": 1, "a": [nil, true, 1.5, "q\"\u{1}\n"]]
    #expect(value.text == #"{"b":1,"a":[null,true,1.5,"q\"\u0001\n"]}"#)
  }

  @Test("Canonical text ignores member order but not digits")
  func canonicalTextIgnoresOrder() throws {
    let one = try JSONValue(parsing: #"{ "b":1.0,"a":{"z":1,"é":2,"y":[{"b":1,"a":2}]},"b":9}"#)
    let two = try JSONValue(parsing: #"{"a":{"y":[{"a":2,"b":1}],"é":2,"z":1},"b":1.0}"#)
    #expect(one.canonicalText == #"{"a":{"y":[{"a":2,"b":1}],"z":1,"é":2},"b":1.0}"#)
    #expect(one.canonicalText == two.canonicalText)
    #expect(one != two)
    #expect(try JSONValue(parsing: "1.0") != JSONValue(parsing: "1"))
  }

  @Test("Repeated names are found")
  func findsRepeatedNames() throws {
    let few: JSONValue = .object(["a", "b", "a", "c", "b", "a"].map { JSONMember($0, 1) })
    #expect(few.members?.repeatedPositions == [2, 4, 5])
    #expect(few.canonicalText == #"{"a":1,"b":1,"c":1}"#)
    let many = (0..<1_000).map { JSONMember("\($0 % 990)", .number(JSONNumber($0))) }
    #expect(many.repeatedPositions == Set(990..<1_000))
    #expect(try JSONValue(parsing: JSONValue.object(many).canonicalText).members?.count == 990)
  }

  @Test("The subscript reads and edits members")
  func subscriptReadsAndEdits() {
    var value: JSONValue = ["a": 1, "b": 2]
    value["a"] = 3
    value["b"] = nil
    value["c"] = ["x"]
    #expect(value.text == #"{"a":3,"c":["x"]}"#)
    #expect(value["c"]?[0]?.string == "x")
    #expect(value["c"]?[1] == nil)
    var leaf: JSONValue = 1
    leaf["a"] = 1
    #expect(leaf == 1)
  }

  @Test(
    "Numbers are validated by the grammar",
    arguments: [
      ("1.50", true), ("-0", true), (" 1", false), ("1 ", false), ("01", false),
      ("\"1\"", false), ("", false),
    ])
  func validatesNumbers(digits: String, valid: Bool) {
    #expect((JSONNumber(digits: digits) != nil) == valid)
  }

  @Test("Infinities and not-a-number are refused")
  func refusesNonFiniteNumbers() {
    #expect(JSONNumber(Double.infinity) == nil)
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(0.1)?.digits == "0.1")
  }
}
