import Testing

@testable import Storage

struct EmbeddedMergeTests {
  @Test(
    "Embedded objects merge by member, and lists of equal length by element",
    arguments: [
      // Members are united, the later value winning.
      (
        #"{"__typename":"P","a":1,"b":2}"#, #"{"__typename":"P","a":1,"c":3}"#,
        #"{"__typename":"P","a":1,"b":2,"c":3}"#
      ),
      // A leaf that differs means that it is another object.
      (
        #"{"__typename":"P","a":1,"b":2}"#, #"{"__typename":"P","a":9,"c":3}"#,
        #"{"__typename":"P","a":9,"c":3}"#
      ),
      // So does another type, or another reference.
      (#"{"__typename":"P","b":2}"#, #"{"__typename":"Q","c":3}"#, #"{"__typename":"Q","c":3}"#),
      (
        #"{"__typename":"E","node":{"$ref":["F","1"]},"role":"x"}"#,
        #"{"__typename":"E","node":{"$ref":["F","2"]}}"#,
        #"{"__typename":"E","node":{"$ref":["F","2"]}}"#
      ),
      // A nested object is replaced alone.
      (
        #"{"__typename":"P","a":1,"i":{"__typename":"I","x":1,"y":1}}"#,
        #"{"__typename":"P","b":1,"i":{"__typename":"I","x":2}}"#,
        #"{"__typename":"P","a":1,"i":{"__typename":"I","x":2},"b":1}"#
      ),
      // Lists of equal length go element by element, others are replaced.
      (
        #"[{"__typename":"P","a":1},{"__typename":"P","a":2}]"#,
        #"[{"__typename":"P","a":1,"b":1},{"__typename":"P","a":3}]"#,
        #"[{"__typename":"P","a":1,"b":1},{"__typename":"P","a":3}]"#
      ),
      (#"[{"__typename":"P","a":1,"b":1}]"#, "[]", "[]"),
      // A custom scalar's object has no type name and is a leaf.
      (
        #"{"__typename":"P","j":{"x":1}}"#, #"{"__typename":"P","j":{"y":1}}"#,
        #"{"__typename":"P","j":{"y":1}}"#
      ),
      ("null", #"{"__typename":"P"}"#, #"{"__typename":"P"}"#),
      (
        #"{"__typename":"P","i":{"__typename":"I"},"a":1}"#, #"{"__typename":"P","i":null}"#,
        #"{"__typename":"P","i":null,"a":1}"#
      ),
    ])
  func mergesEmbeddedValues(earlier: String, later: String, result: String) {
    let merged = EmbeddedMerge.merge(Array(earlier.utf8), Array(later.utf8))
    #expect(String(decoding: merged, as: UTF8.self) == result)
  }
}
