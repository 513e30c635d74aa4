/// Why a text is no pattern that Larder can match.
package struct PatternFault: Error, Hashable, Sendable {
  /// Counted in characters from 1; nil where the pattern as a whole is at fault.
  package let position: Int?
  /// What is wrong and what to write instead.
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
