import HTTPWire
import Testing

struct ConditionTests {
  private let now = HTTPDate(secondsSince1970: 1_790_000_000)
  private let changed = HTTPDate(secondsSince1970: 784_111_777)
  private let changedText = "Sun, 06 Nov 1994 08:49:37 GMT"
  private let beforeText = "Sun, 06 Nov 1994 08:49:36 GMT"

  @Test(
    "Entity tags are parsed",
    arguments: [
      ("\"a\"", EntityTag("a")), ("W/\"a\"", EntityTag("a", isWeak: true)),
      (" \"\" ", EntityTag("")),
      ("\"caf\u{e9}\"", EntityTag("caf\u{e9}")),
    ])
  func parsesTags(text: String, expected: EntityTag) {
    #expect(EntityTag(parsing: text) == expected)
  }

  @Test(
    "Malformed entity tags are refused",
    arguments: ["", "a", "\"a", "w/\"a\"", "\"a\"b", "\"a b\"", "W/a", "\"a\", \"b\""])
  func refusesMalformedTags(text: String) {
    #expect(EntityTag(parsing: text) == nil)
  }

  @Test("Entity tags compare strongly and weakly")
  func comparesStronglyAndWeakly() {
    let strong = EntityTag("a")
    let weak = EntityTag("a", isWeak: true)
    #expect(strong.stronglyMatches(strong))
    #expect(!strong.stronglyMatches(weak))
    #expect(!weak.stronglyMatches(weak))
    #expect(weak.weaklyMatches(strong))
    #expect(!strong.weaklyMatches(EntityTag("b")))
  }

  @Test("A coding changes the tag, and removing it restores the tag")
  func codingSuffixCanBeRemoved() {
    let tag = EntityTag("a")
    #expect(tag.coded(.gzip).text == "\"a-gzip\"")
    #expect(tag.coded(.gzip).uncoded == tag)
    #expect(tag.coded(.identity) == tag)
  }

  @Test(
    "Lists of entity tags are parsed",
    arguments: [
      ("*", true), ("\"x\", W/\"a\"", true), ("\"x\",,\"y\"", false), ("garbage, \"a\"", false),
      (",\"a\"", true),
    ])
  func parsesTagLists(text: String, expected: Bool) {
    #expect((EntityTagList(text)?.weaklyContains(EntityTag("a")) ?? false) == expected)
  }

  @Test(
    "Preconditions are evaluated in the order of RFC 9110",
    arguments: [
      // If-Match goes before all, strongly; a 304 needs If-None-Match or If-Modified-Since.
      (["if-match": "\"a\""], true, Preconditions.Verdict.proceed),
      (["if-match": "W/\"a\""], true, .failed),
      (["if-match": "\"b\"", "if-none-match": "\"a\""], true, .failed),
      (["if-match": "*"], false, .proceed),
      (["if-none-match": "W/\"a\""], true, .notModified),
      (["if-none-match": "\"a\""], false, .failed),
      (
        ["if-none-match": "\"b\"", "if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], true,
        .proceed
      ),
      (["if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], true, .notModified),
      (["if-modified-since": "Sun, 06 Nov 1994 08:49:36 GMT"], true, .proceed),
      (["if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], false, .proceed),
      (["if-modified-since": "yesterday"], true, .proceed),
      (["if-unmodified-since": "Sun, 06 Nov 1994 08:49:36 GMT"], false, .failed),
      (["if-unmodified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], false, .proceed),
      (
        ["if-match": "\"a\"", "if-unmodified-since": "Sun, 06 Nov 1994 08:49:36 GMT"], false,
        .proceed
      ),
    ])
  func evaluatesConditionsInOrder(
    fields: [String: String], isRead: Bool, expected: Preconditions.Verdict
  ) {
    let conditions = Preconditions(
      ifMatch: fields["if-match"], ifUnmodifiedSince: fields["if-unmodified-since"],
      ifNoneMatch: fields["if-none-match"], ifModifiedSince: fields["if-modified-since"], now: now)
    let verdict = conditions.judge(isRead: isRead, tag: EntityTag("a"), modified: changed)
    #expect(verdict == expected)
  }

  /// Tags guard writes: one that cannot be read guards all the more.
  @Test(
    "A malformed list of tags fails a write and not a read",
    arguments: ["", "a", "\"a", "a b", "*, \"a\"", ","])
  func malformedTagsFailWrites(text: String) {
    let match = Preconditions(ifMatch: text, now: now)
    #expect(!match.isEmpty)
    for isRead in [true, false] {
      #expect(match.judge(isRead: isRead, tag: EntityTag("a")) == .failed)
    }
    let noneMatch = Preconditions(ifNoneMatch: text, now: now)
    #expect(!noneMatch.isEmpty)
    #expect(noneMatch.judge(isRead: true, tag: EntityTag("a")) == .proceed)
    #expect(noneMatch.judge(isRead: false, tag: nil) == .failed)
  }

  @Test(
    "Unquoted tags are parsed if they are allowed",
    arguments: [
      ("a", ["a"]), ("a, b", ["a", "b"]), ("\"a,b\"", ["a,b"]), ("a,\"b\"", ["a", "b"]),
      ("*", nil), ("*,a", nil), ("a b", nil), ("a\"", nil), ("", nil), (",", nil),
    ])
  func parsesUnquotedTagsIfAllowed(text: String, expected: [String]?) {
    let list = EntityTagList(acceptingBareTags: text)
    if text == "*" {
      #expect(list == .any)
    } else {
      #expect(list == expected.map { .tags($0.map { EntityTag($0) }) })
    }
  }

  @Test("A star matches any existing representation")
  func starMatchesAnyRepresentation() {
    let create = Preconditions(ifNoneMatch: "*", now: now)
    #expect(create.judge(isRead: false, tag: nil) == .proceed)
    #expect(create.judge(isRead: false, tag: EntityTag("a")) == .failed)
    let update = Preconditions(ifMatch: "*", now: now)
    #expect(update.judge(isRead: false, tag: nil) == .failed)
  }

  @Test("If-Range compares strongly")
  func rangeConditionsAreStrong() {
    let tag = EntityTag("a")
    #expect(RangeCondition("\"a\"", now: now)?.holds(tag: tag, modified: nil) == true)
    #expect(RangeCondition("W/\"a\"", now: now)?.holds(tag: tag, modified: nil) == false)
    #expect(RangeCondition(changedText, now: now)?.holds(tag: tag, modified: changed) == true)
    #expect(RangeCondition(beforeText, now: now)?.holds(tag: tag, modified: changed) == false)
    #expect(RangeCondition("zzz", now: now) == nil)
  }
}
