import Model
import Testing

struct EntityKeyTests {
  @Test func keepsASingleFieldAsItsOwnText() {
    #expect(EntityKey(type: "Film", fields: ["4:x"]).key == "4:x")
  }

  @Test(arguments: [
    (["a", "bc"], ["ab", "c"]),
    (["1:a", ""], ["", "1:a"]),
    (["2:ab", "c"], ["2", "ab1:c"]),
    (["é", "e"], ["e", "é"]),
  ])
  func neverLetsTwoTuplesMeet(one: [String], other: [String]) {
    #expect(EntityKey(type: "T", fields: one) != EntityKey(type: "T", fields: other))
  }

  @Test func countsBytesNotCharacters() {
    #expect(EntityKey(type: "T", fields: ["é", "x"]).key == "2:é1:x")
  }
}
