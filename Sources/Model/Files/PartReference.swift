/// A part as the client that completes its upload names it.
package struct PartReference: Hashable, Sendable {
  package let number: Int
  /// Without its quotes.
  package let tag: String

  package init(number: Int, tag: String) {
    self.number = number
    self.tag = tag
  }
}
