/// What is found in content in chunks, in this order: for each chunk, the last and empty one too, its
/// beginning, its content and its end; then the fields behind, where the form has them; then the end.
package enum AWSChunkedEvent: Hashable, Sendable {
  /// - Parameter signature: 64 hexadecimal digits; nil where the form has none.
  case chunk(bytes: Int, signature: String?)
  /// Some of a chunk's content, never empty.
  case content(ArraySlice<UInt8>)
  /// The chunk is whole, and its signature can be judged.
  case chunkEnd
  /// - Parameter signature: of the fields; nil where the form has none.
  case trailers([AWSChunkedTrailer], signature: String?)
  case end
}
