/// What is wrong with content whose form the request promised.
package enum UploadRefusal: Error, Sendable, Hashable {
  /// A chunk, or what trails the chunks, is not signed as it should be.
  case signature
  /// The framing within the content cannot be read.
  case framing
  /// A digest behind the content cannot be read, or is not the one that was announced.
  case trailer
}
