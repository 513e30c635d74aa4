import Model
import Testing

/// Keys of in-memory tables are compared by their bytes.
struct ExactTextTests {
  /// `é` as one code point and as two, a mark before and after another, an angstrom sign and its
  /// letter: each pair is equal as `String`.
  static let pairs = [
    ("caf\u{E9}", "cafe\u{301}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"),
    ("\u{212B}", "\u{C5}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
    ("a much longer text with an \u{E9} in it", "a much longer text with an e\u{301} in it"),
  ]

  @Test("Canonically equivalent texts are different keys", arguments: pairs)
  func equivalentTextsDiffer(composed: String, decomposed: String) {
    #expect(composed == decomposed)
    expectApart(composed, decomposed) { ExactText($0) }
    expectApart(composed, decomposed) { EntityKey(type: "Film", key: $0) }
    expectApart(composed, decomposed) { EntityKey(type: "Film", fields: [$0, "1"]) }
    expectApart(composed, decomposed) { Scope.user($0) }
    expectApart(composed, decomposed) { Scope.device($0) }
    expectApart(composed, decomposed) { Scope(kind: .public, subject: "", partition: $0) }
    expectApart(composed, decomposed) { Viewer(layers: [.user($0), .public]) }
    expectApart(composed, decomposed) {
      ResultKey(operation: "Search", variables: #"{"text":"\#($0)"}"#, scope: .public)
    }
    expectApart(composed, decomposed) {
      ResultKey(operation: "Search", variables: "{}", scope: .user($0))
    }
  }

  private func expectApart<Key: Hashable>(
    _ composed: String, _ decomposed: String, _ make: (String) -> Key,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let keys: Set = [make(composed), make(decomposed), make(composed)]
    #expect(keys.count == 2, sourceLocation: sourceLocation)
    #expect(make(composed) != make(decomposed), sourceLocation: sourceLocation)
    #expect(make(composed) == make(composed), sourceLocation: sourceLocation)
    #expect(
      make(composed).hashValue == make(composed).hashValue, sourceLocation: sourceLocation)
  }

  @Test("Texts with the same bytes are equal keys, however they are stored")
  func storageDoesNotMatter() {
    let whole = "key-0123456789-0123456789-é"
    let piece = String(("x" + whole).dropFirst())
    #expect(ExactText(whole) == ExactText(piece))
    #expect(Set([ExactText(whole), ExactText(piece)]).count == 1)
    #expect(ExactText("") == ExactText(""))
    #expect(ExactText("a") != ExactText("ab"))
  }

  @Test("Texts are ordered by their bytes")
  func orderOfBytes() {
    #expect("e\u{301}".precedesExactly("\u{E9}"))
    #expect(!"\u{E9}".precedesExactly("e\u{301}"))
    #expect("a".precedesExactly("b") && !"b".precedesExactly("a") && !"a".precedesExactly("a"))
  }
}

struct EntityKeyTests {
  @Test("The key of a single field is its text")
  func singleFieldIsItsText() {
    #expect(EntityKey(type: "Film", fields: ["4:x"]).key == "4:x")
  }

  @Test(
    "Different tuples have different keys",
    arguments: [
      (["a", "bc"], ["ab", "c"]),
      (["1:a", ""], ["", "1:a"]),
      (["2:ab", "c"], ["2", "ab1:c"]),
      (["é", "e"], ["e", "é"]),
    ])
  func differentTuplesDiffer(one: [String], other: [String]) {
    #expect(EntityKey(type: "T", fields: one) != EntityKey(type: "T", fields: other))
  }

  @Test("Tuple lengths count bytes")
  func lengthsCountBytes() {
    #expect(EntityKey(type: "T", fields: ["é", "x"]).key == "2:é1:x")
  }
}
