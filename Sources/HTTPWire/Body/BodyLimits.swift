/// How much of a body, and of the framing around it, is taken before it is refused.
package struct BodyLimits: Sendable, Equatable {
  /// Bytes of content.
  package var bodyBytesMax: Int
  /// Digits of a chunk size, leading zeros included: as many as 64 bits need.
  package var chunkSizeDigitsMax: Int
  /// Bytes of extensions in one chunk's line.
  package var chunkExtensionBytesMax: Int
  /// Bytes of chunk lines on top of a quarter of the content: one-byte chunks are fine in a short
  /// body, and no way to keep a server busy in a long one.
  package var chunkOverheadBytesMax: Int
  /// Bytes of the trailer section.
  package var trailerBytesMax: Int
  /// Field lines of the trailer section.
  package var trailerFieldsMax: Int

  package init(
    bodyBytesMax: Int = 1024 * 1024, chunkSizeDigitsMax: Int = 16,
    chunkExtensionBytesMax: Int = 256, chunkOverheadBytesMax: Int = 16 * 1024,
    trailerBytesMax: Int = 8 * 1024, trailerFieldsMax: Int = 32
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.chunkSizeDigitsMax = chunkSizeDigitsMax
    self.chunkExtensionBytesMax = chunkExtensionBytesMax
    self.chunkOverheadBytesMax = chunkOverheadBytesMax
    self.trailerBytesMax = trailerBytesMax
    self.trailerFieldsMax = trailerFieldsMax
  }
}
