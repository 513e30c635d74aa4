import Testing

@testable import Model

struct TextPatternTests {
  private static func matches(_ pattern: String, _ text: String) throws -> Bool? {
    var budget = TextPattern.stepsPerTextMax
    return try TextPattern(pattern).matches(text, budget: &budget)
  }

  @Test(
    "A pattern matches whole texts",
    arguments: [
      ("", [""], ["a"]),
      ("abc", ["abc"], ["", "ab", "abcd", "xabc"]),
      ("a|bc|", ["a", "bc", ""], ["b", "abc"]),
      ("a*b+c?", ["b", "aabbc"], ["a", "ac", "bcc"]),
      ("(?:ab){2,3}", ["abab", "ababab"], ["ab", "abababab", "aba"]),
      ("(ab){,2}", ["", "ab", "abab"], ["ababab"]),
      ("(?<year>[0-9]{4})-\\d\\d", ["2024-12"], ["2024-1", "24-12"]),
      ("a{2,}?", ["aa", "aaaaa"], ["a"]),
      ("[^a-c\\d]+", ["xyz", "é"], ["a", "x1", ""]),
      ("[-a.\\]]+", ["-a.]"], ["b"]),
      ("[a-]", ["a", "-"], ["b"]),
      ("^ab$", ["ab"], ["ab\n"]),
      ("ab$\\n", ["ab\n"], ["ab"]),
      ("ab\\z\\n", [], ["ab\n", "ab"]),
      ("\\Aa.c\\Z", ["abc", "aéc"], ["a\nc"]),
      ("\\w+@\\w+\\.\\w{2,}", ["me@example.org"], ["me@example.o", "me.example.org"]),
      ("\\x41\\u0042\\u{43}\\n", ["ABC\n"], ["ABC"]),
      ("\\p{Lu}\\p{L}*\\P{L}", ["Abc1"], ["abc1", "Abc"]),
      ("(?i)straße[x-z]", ["STRAßEY", "straßex"], ["straßea"]),
      ("a(?i:b)c", ["aBc", "abc"], ["Abc", "abC"]),
      ("é", ["e\u{301}", "\u{E9}"], ["e"]),
      ("a{0}b", ["b"], ["ab"]),
      ("(|a)*b", ["b", "aab"], ["a"]),
      ("\\$\\{\\}\\^", ["${}^"], ["$"]),
    ] as [(String, [String], [String])])
  func wholeTexts(pattern: String, matching: [String], others: [String]) throws {
    for text in matching { #expect(try Self.matches(pattern, text) == true, "\(text)") }
    for text in others { #expect(try Self.matches(pattern, text) == false, "\(text)") }
  }

  @Test(
    "Features that an automaton cannot support are refused with their position",
    arguments: [
      ("(a)\\1", 5, "backreferences"),
      ("(?<n>a)\\k<n>", 9, "backreferences"),
      ("(?=a)b", 1, "lookaround"),
      ("(?!a)b", 1, "lookaround"),
      ("(?<=a)b", 1, "lookaround"),
      ("(?>a+)b", 1, "atomic"),
      ("(?m)a", 1, "flags"),
      ("a(?i)b", 2, "only at the start"),
      ("a++", 3, "possessive"),
      ("a**", 3, "follows another"),
      ("\\bword", 2, "word boundaries"),
      ("a{b}", 3, "\\{ for the character"),
      ("a{2,1}", 7, "is empty"),
      ("a{1001}", 7, "maximum number in a quantifier is 1000"),
      ("a{99999999999999999999}", 23, "quantifier is 1000"),
      ("*a", 1, "nothing to repeat"),
      ("^*", 3, "anchor"),
      ("(a", 1, "never closed"),
      ("a)", 2, "no group to close"),
      ("[a", 1, "never closed"),
      ("[]", 1, "needs at least one character"),
      ("[b-a]", 4, "its end comes first"),
      ("[a-\\d]", 4, "single characters"),
      ("[[:alpha:]]", 2, "class in a class"),
      ("[a&&b]", 4, "operators"),
      ("[a--b]", 4, "operators"),
      ("\\p{Greek}", 10, "general category"),
      ("\\q", 2, "not supported"),
      ("\\uD800", 7, "not a code point"),
      ("a\\", 3, "backslash"),
    ] as [(String, Int, String)])
  func refuses(pattern: String, position: Int, message: String) {
    #expect {
      try TextPattern(pattern)
    } throws: { error in
      guard let fault = error as? PatternFault else { return false }
      let isRight = fault.position == position && fault.message.contains(message)
      if !isRight { print("\(pattern): \(fault)") }
      return isRight
    }
  }

  @Test(
    "A pattern with too many states is refused at once",
    arguments: [
      "a{1000}b{10}", "(a{1000}){1000}", "((((){1000}){1000}){1000}){1000}",
      "((((a{1000}){1000}){1000}){1000}){1000}){1000}".replacing("((((a", with: "(((((a"),
      "(a|b|c){400}", "([abcdefghij]{10}){10,}", "(a?){600}",
    ])
  func tooManyStates(pattern: String) {
    #expect {
      try TextPattern(pattern)
    } throws: { error in
      (error as? PatternFault)?.message.contains("more than 1000 states") == true
    }
  }

  @Test("The nesting of groups is limited")
  func deepGroups() {
    let deep = String(repeating: "(", count: 50_000)
    #expect(throws: PatternFault.self) { try TextPattern(deep) }
  }

  @Test(
    "Steps grow linearly with the text, whatever the pattern",
    arguments: [
      "([a-z0-9]+-?)+", "(a|a)*", "(a*)*b", "(a+)+$", "((a?){9})*b", "(a|aa)+b", "(.*)*x",
      "(a?){30}a{30}", "(.*a){9}", "^(([a-z])+.)+[A-Z]([a-z])+$",
    ])
  func stepsAreLinear(pattern: String) throws {
    let compiled = try TextPattern(pattern)
    let states = compiled.program.instructions.count
    for count in [10, 100, 999] {
      for text in ["", "!"].map({ String(repeating: "a", count: count) + $0 }) {
        var budget = TextPattern.stepsPerTextMax
        #expect(compiled.matches(text, budget: &budget) != nil)
        let steps = TextPattern.stepsPerTextMax - budget
        #expect(steps <= 2 * states * (text.count + 1), "\(count)")
      }
    }
  }

  @Test("A match ends when its budget is used up")
  func budgets() throws {
    let pattern = try TextPattern("(.?){300}x")
    var budget = 10_000
    #expect(pattern.matches(String(repeating: "a", count: 300), budget: &budget) == nil)
    #expect(budget < 0)
    #expect(budget > -3_000)
    #expect(pattern.matches("x", budget: &budget) == nil)
  }
}
