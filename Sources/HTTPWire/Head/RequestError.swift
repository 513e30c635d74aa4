/// The reason a request cannot be served as it was sent.
///
/// The server responds once, with ``status``, and closes the connection: after a framing error the
/// start of the next request is unknown.
package enum RequestError: Error, Sendable, Hashable, CaseIterable {
  case malformedRequestLine
  case requestLineTooLong
  case unknownMethod
  case unsupportedVersion
  case malformedTarget
  case malformedField
  case foldedField
  case bareLineFeed
  case tooManyLeadingLines
  case headTooLarge
  case fieldTooLarge
  case tooManyFields
  case missingHost
  case repeatedHost
  case malformedHost
  case repeatedAuthorization
  case emptyAuthorization
  case malformedContentLength
  case repeatedContentLength
  case conflictingFraming
  case transferCodingInHTTP10
  case repeatedTransferEncoding
  case unknownTransferCoding
  case unknownExpectation
  case contentTooLarge
  /// A content coding that the server cannot decode.
  case unknownContentCoding
  /// The content is not valid in its declared coding.
  case malformedContentCoding
  case malformedChunk
  case chunkOverhead
  case malformedTrailer
  case trailerTooLarge
  /// The head or the body did not arrive in time.
  case timedOut

  /// The status code of the response.
  package var status: Int {
    switch self {
    case .malformedRequestLine, .malformedTarget, .malformedField, .foldedField, .bareLineFeed,
      .tooManyLeadingLines, .missingHost, .repeatedHost, .malformedHost, .repeatedAuthorization,
      .emptyAuthorization, .malformedContentLength, .repeatedContentLength, .conflictingFraming,
      .transferCodingInHTTP10, .repeatedTransferEncoding, .malformedContentCoding,
      .malformedChunk, .chunkOverhead, .malformedTrailer:
      400
    case .timedOut: 408
    case .contentTooLarge: 413
    case .requestLineTooLong: 414
    case .unknownContentCoding: 415
    case .unknownExpectation: 417
    case .headTooLarge, .fieldTooLarge, .tooManyFields, .trailerTooLarge: 431
    case .unknownMethod, .unknownTransferCoding: 501
    case .unsupportedVersion: 505
    }
  }

  /// One sentence for the sender of the request.
  package var explanation: StaticString {
    switch self {
    case .malformedRequestLine: "The request line must be a method, a target and a version."
    case .requestLineTooLong: "The request line exceeds the limit of this server."
    case .unknownMethod: "This server does not support the method."
    case .unsupportedVersion: "This server supports only HTTP/1.1 and HTTP/1.0."
    case .malformedTarget: "The request target is not valid."
    case .malformedField: "A header field line is not valid."
    case .foldedField: "Header field lines must not be folded."
    case .bareLineFeed: "Lines must end in CR LF."
    case .tooManyLeadingLines: "Too many empty lines precede the request."
    case .headTooLarge: "The header section exceeds the limit of this server."
    case .fieldTooLarge: "A header field line exceeds the limit of this server."
    case .tooManyFields: "The number of header fields exceeds the limit of this server."
    case .missingHost: "The Host header field is missing."
    case .repeatedHost: "There is more than one Host header field."
    case .malformedHost: "The Host header field is not valid."
    case .repeatedAuthorization: "There is more than one Authorization header field."
    case .emptyAuthorization: "The Authorization header field is empty."
    case .malformedContentLength: "The Content-Length header field is not valid."
    case .repeatedContentLength: "There is more than one Content-Length header field."
    case .conflictingFraming: "A request cannot have both Content-Length and Transfer-Encoding."
    case .transferCodingInHTTP10: "An HTTP/1.0 request cannot have a Transfer-Encoding."
    case .repeatedTransferEncoding: "There is more than one Transfer-Encoding header field."
    case .unknownTransferCoding: "The only transfer coding this server supports is chunked."
    case .unknownExpectation: "The only expectation this server supports is 100-continue."
    case .contentTooLarge: "The body exceeds the limit of this route."
    case .unknownContentCoding: "This server does not support the body's Content-Encoding."
    case .malformedContentCoding: "The body is not valid in its Content-Encoding."
    case .malformedChunk: "The chunked body is not valid."
    case .chunkOverhead: "The chunked body has too much chunk overhead."
    case .malformedTrailer: "A trailer field line is not valid."
    case .trailerTooLarge: "The trailer section exceeds the limit of this server."
    case .timedOut: "The request did not arrive in time."
    }
  }
}
