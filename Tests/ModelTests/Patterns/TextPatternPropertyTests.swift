import TestSupport
import Testing

@testable import Model

/// Generated patterns and texts: ``TextPattern`` agrees with Swift's `Regex`.
struct TextPatternPropertyTests {
  @Test("Patterns match like Swift's Regex", arguments: 0..<40 as Range<UInt64>)
  func agrees(seed: UInt64) throws {
    var writer = PatternWriter(generator: SeededGenerator(seed: seed))
    var matching = 0
    for _ in 0..<25 {
      let source = writer.choice(depth: 2)
      guard let pattern = try Self.pattern(source) else { continue }
      let regex = try Regex(source)
      for _ in 0..<12 {
        let text = writer.text()
        var budget = TextPattern.stepsPerTextMax
        let expected = try regex.wholeMatch(in: text) != nil
        if expected { matching += 1 }
        #expect(
          pattern.matches(text, budget: &budget) == expected,
          "\(source.debugDescription) on \(text.debugDescription)")
      }
    }
    #expect(matching > 0)
  }

  /// Nil if nested repetitions, expanded, exceed the limit of states.
  private static func pattern(_ source: String) throws -> TextPattern? {
    do {
      return try TextPattern(source)
    } catch {
      if error.message.contains("states") { return nil }
      throw error
    }
  }
}

private struct PatternWriter: SeededChance {
  var generator: SeededGenerator

  private static let atoms = [
    "a", "b", "c", "1", "-", " ", "é", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "[ab]",
    "[^a]",
    "[a-c1]", "[^b-c\\s]", "[\\w-]", "\\p{L}", "\\P{Lu}", "\\n", "\\.",
  ]
  private static let quantifiers = ["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "+?"]

  mutating func choice(depth: Int) -> String {
    (0..<number(1...3)).map { _ in sequence(depth: depth) }.joined(separator: "|")
  }

  private mutating func sequence(depth: Int) -> String {
    (0..<number(1...3)).map { _ in
      let atom = atom(depth: depth)
      guard percent(45) else { return atom }
      return atom + (pick(Self.quantifiers) ?? "*")
    }.joined()
  }

  private mutating func atom(depth: Int) -> String {
    guard depth > 0, percent(30) else { return pick(Self.atoms) ?? "a" }
    return (percent(50) ? "(" : "(?:") + choice(depth: depth - 1) + ")"
  }

  mutating func text() -> String {
    let letters = ["a", "b", "c", "1", "-", " ", "é", "e\u{301}", "\n", ".", "A", "_", "٣", "\r\n"]
    return (0..<number(0...5)).map { _ in pick(letters) ?? "" }.joined()
  }
}
