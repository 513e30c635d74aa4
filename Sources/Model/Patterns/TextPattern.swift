/// A regular expression that a whole text must match, in time linear in the text.
///
/// The expression becomes a nondeterministic automaton (Thompson, 1968) whose states are all followed
/// at once, character by character, so no text makes it go back. What an automaton cannot do is refused
/// when the pattern is read: backreferences, lookaround, atomic groups and possessive quantifiers.
/// Everything else means what it means in Swift's `Regex`: characters are grapheme clusters, compared by
/// canonical equivalence; but a range of a class holds characters of one Unicode scalar alone.
package struct TextPattern: Sendable {
  /// States of one automaton; counted repetitions are written out, so `a{500}` has 500.
  package static let statesMax = 1_000
  /// Characters (Unicode scalars) of a text.
  package static let charactersMax = 1_000
  /// Steps that one text can take at most: each state is entered and tested once a character.
  package static let stepsPerTextMax = 2 * statesMax * (charactersMax + 1)

  package let source: String
  let program: PatternProgram

  /// - Throws: ``PatternFault``, where the text is no expression or one of an unsupported kind.
  package init(_ source: String) throws(PatternFault) {
    self.source = source
    var parser = PatternParser(source)
    program = try PatternProgram(try parser.parse())
  }

  /// Whether the whole text matches.
  ///
  /// - Parameter budget: steps that can still be taken; what this match took is subtracted.
  /// - Returns: nil where the text has more than ``charactersMax`` characters, or the budget ran out.
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
