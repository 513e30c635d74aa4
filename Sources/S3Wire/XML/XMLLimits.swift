/// How much of a document is read.
package struct XMLLimits: Hashable, Sendable {
  package var bytesMax: Int
  /// Elements in one another.
  package var depthMax: Int
  package var elementsMax: Int

  /// The defaults hold the largest document there is in S3: ten thousand parts, each with its
  /// checksums.
  package init(bytesMax: Int = 4 << 20, depthMax: Int = 16, elementsMax: Int = 100_000) {
    self.bytesMax = bytesMax
    self.depthMax = depthMax
    self.elementsMax = elementsMax
  }
}
