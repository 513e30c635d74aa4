import LosslessJSON
import Model
import Testing

struct MergePatchTests {
  /// The examples of RFC 7396, appendix A, and repeated names.
  @Test(
    "Merge patches give the results of RFC 7396",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
      (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
      ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
      (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
      ("{}", #"{"a":1,"a":null,"a":2}"#, #"{"a":2}"#),
    ])
  func merges(_ target: String, _ patch: String, _ result: String) throws {
    let merged = try JSONValue(parsing: Array(target.utf8))
      .mergePatched(with: JSONValue(parsing: Array(patch.utf8)))
    #expect(merged.text == result)
  }

  @Test("A large patch is applied in linear time")
  func largePatchIsLinear() throws {
    let members = (0..<100_000).map { JSONMember("m\($0)", .bool(true)) }
    let merged = JSONValue.object([]).mergePatched(with: .object(members))
    #expect(merged.members?.count == members.count)
  }
}
