/// The three forms of `aws-chunked` content.
package enum AWSChunkedForm: Hashable, Sendable, CaseIterable {
  /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD`: each chunk is signed.
  case signed
  /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER`: so are the fields behind the chunks.
  case signedWithTrailer
  /// `STREAMING-UNSIGNED-PAYLOAD-TRAILER`: nothing is signed, and fields follow the chunks.
  case unsignedWithTrailer

  var isSigned: Bool { self != .unsignedWithTrailer }
  var hasTrailer: Bool { self != .signed }
}
