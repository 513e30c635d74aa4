/// A field behind the chunks.
package struct AWSChunkedTrailer: Hashable, Sendable {
  /// In lower case.
  package let name: String
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
