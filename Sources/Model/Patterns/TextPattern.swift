/// A regular expression that a whole text must match, in time linear in the text.
///
/// The expression becomes a nondeterministic automaton (Thompson, 1968) whose states are all followed
/// at once, character by character, without backtracking. Features that an automaton cannot support are
/// refused when the pattern is parsed: backreferences, lookaround, atomic groups and possessive
/// quantifiers. Everything else has the meaning of Swift's `Regex`: characters are grapheme clusters,
/// compared by canonical equivalence; but a range of a class matches only single-scalar characters.
package struct TextPattern: Sendable {
  /// Limit of the states of one automaton; counted repetitions are expanded, so `a{500}` has 500.
  package static let statesMax = 1_000
  /// Limit of the characters (Unicode scalars) of a text.
  static let charactersMax = 1_000
  /// The most steps that one text can take: each state is entered and tested once per character.
  static let stepsPerTextMax = 2 * statesMax * (charactersMax + 1)

  package let source: String
  let program: PatternProgram

  /// - Throws: ``PatternFault`` if the expression is malformed or not supported.
  package init(_ source: String) throws(PatternFault) {
    self.source = source
    var parser = PatternParser(source)
    program = try PatternProgram(try parser.parse())
  }

  /// Returns whether the whole text matches.
  ///
  /// - Parameter budget: the remaining steps; those of this match are subtracted.
  /// - Returns: nil if the text has more than ``charactersMax`` characters, or the budget ran out.
  package func matches(_ text: String, budget: inout Int) -> Bool? {
    guard text.unicodeScalars.count <= Self.charactersMax else { return nil }
    var run = PatternRun(program, text)
    let result = run.matches(budget: budget)
    budget -= run.steps
    return result
  }
}

extension TextPattern: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    left.source.utf8.elementsEqual(right.source.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(source)
  }
}

/// Why a pattern is malformed or not supported.
package struct PatternFault: Error, Hashable, Sendable {
  /// The character, counted from 1; nil for a fault of the whole pattern.
  package let position: Int?
  /// The fault and its remedy.
  package let message: String

  package init(position: Int? = nil, _ message: String) {
    self.position = position
    self.message = message
  }
}

extension PatternFault: CustomStringConvertible {
  package var description: String {
    position.map { "\(message) (at character \($0))" } ?? message
  }
}
