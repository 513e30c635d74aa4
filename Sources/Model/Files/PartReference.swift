/// A part as the client that completes its upload names it.
package struct PartReference: Hashable, Sendable {
  package let number: Int
  /// Without its quotes.
  package let tag: String

  /// The checksum that the client knows of it; nil where it states none.
  package let checksum: ContentDigest?

  package init(number: Int, tag: String, checksum: ContentDigest? = nil) {
    self.number = number
    self.tag = tag
    self.checksum = checksum
  }
}
