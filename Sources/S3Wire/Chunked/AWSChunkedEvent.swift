/// An event of decoding `aws-chunked` content. The order is: for each chunk, including the last and empty
/// one, its beginning, its content and its end; then the trailer, if the form has one; then the end.
package enum AWSChunkedEvent: Hashable, Sendable {
  /// The beginning of a chunk.
  ///
  /// - Parameter signature: 64 hexadecimal digits; nil if the form has none.
  case chunk(bytes: Int, signature: String?)
  /// A piece of a chunk's content, never empty.
  case content(ArraySlice<UInt8>)
  /// The end of a chunk; its signature can be verified.
  case chunkEnd
  /// The trailer.
  ///
  /// - Parameter signature: the signature of the fields; nil if the form has none.
  case trailers([AWSChunkedTrailer], signature: String?)
  case end
}

/// A field of the trailer, after the chunks.
package struct AWSChunkedTrailer: Hashable, Sendable {
  /// The name in lower case.
  package let name: String
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// The three forms of `aws-chunked` content.
package enum AWSChunkedForm: Hashable, Sendable, CaseIterable {
  /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD`: each chunk is signed.
  case signed
  /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER`: each chunk and the trailer are signed.
  case signedWithTrailer
  /// `STREAMING-UNSIGNED-PAYLOAD-TRAILER`: nothing is signed, and there is a trailer.
  case unsignedWithTrailer

  var isSigned: Bool { self != .unsignedWithTrailer }
  var hasTrailer: Bool { self != .signed }
}

/// An error in `aws-chunked` content. Decoding cannot continue after it.
package enum AWSChunkedError: Error, Hashable, Sendable {
  case lineTooLong
  /// A chunk's line is not a hexadecimal size, followed by a signature if the form is signed.
  case malformedChunkLine
  /// There is no line end after a chunk's content.
  case malformedChunkEnd
  /// There is more content than announced.
  case tooMuchContent
  /// The last chunk came before all announced content.
  case tooLittleContent
  case malformedTrailer
  case tooManyTrailers
  /// The trailer has no signature, or fields after it.
  case trailerSignatureMissing
  /// There are bytes after the end.
  case contentAfterEnd
  /// The input ended before the content did.
  case unfinished
}
