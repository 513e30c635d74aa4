import GraphQL
import Testing

struct NearestNamesTests {
  @Test(arguments: [
    ("titel", ["title", "year"], ["title"]), ("", ["a"], []), ("a", ["b"], []), ("a", ["A"], ["A"]),
    ("abc", [], []),
    ("verylongname", ["short"], []), ("FILM", ["film", "firm"], ["film", "firm"]),
    ("ab", ["ba", "abc", "xy"], ["abc", "ba"]), ("aaaa", ["bbbb"], []),
    ("green", ["greem", "geren", "gren", "red"], ["geren", "greem", "gren", "red"]),
  ])
  func findsWhatIsNear(name: String, names: [String], expected: [String]) {
    #expect(NearestNames.suggestions(for: name, among: names) == expected)
  }

  @Test func asksAQuestion() {
    #expect(NearestNames.didYouMean([]) == "")
    #expect(NearestNames.didYouMean(["a"]) == " Did you mean \"a\"?")
    #expect(NearestNames.didYouMean(["a", "b"]) == " Did you mean \"a\" or \"b\"?")
    #expect(NearestNames.didYouMean(["a", "b", "c"]) == " Did you mean \"a\", \"b\" or \"c\"?")
    #expect(NearestNames.didYouMean(["a", "b", "c", "d", "e", "f"]).contains("\"d\" or \"e\"?"))
    #expect(NearestNames.didYouMean("yaer", among: ["year", "id"]) == " Did you mean \"year\"?")
  }
}
