import LosslessJSON
import Model
import Testing

struct StoredMembersTests {
  private static func members(_ layers: String...) throws -> StoredMembers? {
    StoredMembers(of: "cast", in: try layers.map { try JSONDocument(text: $0).root })
  }

  private static func list(_ keys: String...) -> String {
    "[" + keys.map { #"{"$ref":["Person","\#($0)"]}"# }.joined(separator: ",") + "]"
  }

  @Test("Lists with all arguments are united, without nulls and repetitions")
  func unitesLists() throws {
    let found = try Self.members(
      #"{"cast":[{"$ref":["Person","1"]},null],"cast({\"limit\":2})":\#(Self.list("2", "1")),"#
        + #""castle":\#(Self.list("9"))}"#)
    #expect(found?.keys.map(\.key) == ["1", "2"])
    #expect(found?.isNull == false)
  }

  @Test("A list of a narrower layer hides the same list of a wider one")
  func narrowestCounts() throws {
    let found = try Self.members(
      #"{"cast":\#(Self.list("1"))}"#,
      #"{"cast":\#(Self.list("2")),"cast(x)":\#(Self.list("3"))}"#)
    #expect(found?.keys.map(\.key) == ["1", "3"])
  }

  @Test("A list in an overlay replaces all others")
  func overlayReplaces() throws {
    let found = try Self.members(
      #"{"$pending":["m1"],"cast":\#(Self.list("5"))}"#,
      #"{"cast":\#(Self.list("2")),"cast(x)":\#(Self.list("3"))}"#)
    #expect(found?.keys.map(\.key) == ["5"])
  }

  @Test("Null, an empty list and a missing one differ")
  func tellsNullFromMissing() throws {
    #expect(try Self.members(#"{"title":"x"}"#) == nil)
    #expect(try Self.members() == nil)
    #expect(try Self.members(#"{"cast":null}"#)?.isNull == true)
    #expect(try Self.members(#"{"cast":[]}"#)?.isNull == false)
    #expect(try Self.members(#"{"cast":null,"cast(x)":[]}"#)?.isNull == false)
  }

  @Test("References inside connections are found")
  func findsReferencesInside() throws {
    let found = try Self.members(
      #"{"cast":{"__typename":"C","edges":[{"__typename":"E","node":{"$ref":["Person","7"]}}]}}"#)
    #expect(found?.keys.map(\.key) == ["7"])
  }
}
