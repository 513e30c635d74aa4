/// Why content in chunks cannot be read. Nothing of it is read after that.
package enum AWSChunkedError: Error, Hashable, Sendable {
  case lineTooLong
  /// A chunk's line is no size in hexadecimal with what its form has behind it.
  case malformedChunkLine
  /// No line's end behind a chunk's content.
  case malformedChunkEnd
  /// More content than was announced.
  case tooMuchContent
  /// The last chunk came before all that was announced.
  case tooLittleContent
  case malformedTrailer
  case tooManyTrailers
  /// The fields behind the chunks have no signature, or something behind it.
  case trailerSignatureMissing
  /// Bytes behind the end.
  case contentAfterEnd
  /// The input ended before the content did.
  case unfinished
}
