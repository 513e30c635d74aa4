/// Why a request cannot be served as it was sent.
///
/// Each is answered once, with ``status``, and ends its connection: after a framing fault nobody
/// knows where the next request would start.
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
  /// A content coding that is not taken off here.
  case unknownContentCoding
  /// The content is not what its coding says.
  case malformedContentCoding
  case malformedChunk
  case chunkOverhead
  case malformedTrailer
  case trailerTooLarge
  /// The head or the body did not arrive in time.
  case timedOut

  /// The status code to answer with.
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

  /// One sentence for whoever sent the request.
  package var explanation: StaticString {
    switch self {
    case .malformedRequestLine: "The request line is not method, target and version."
    case .requestLineTooLong: "The request line is longer than this server takes."
    case .unknownMethod: "This server does not know the method."
    case .unsupportedVersion: "This server speaks HTTP/1.1 and HTTP/1.0."
    case .malformedTarget: "The request target is not valid."
    case .malformedField: "A header field line is not valid."
    case .foldedField: "Header field lines must not be folded."
    case .bareLineFeed: "Lines must end in CR LF."
    case .tooManyLeadingLines: "Too many empty lines stand before the request."
    case .headTooLarge: "The header section is larger than this server takes."
    case .fieldTooLarge: "A header field line is longer than this server takes."
    case .tooManyFields: "There are more header fields than this server takes."
    case .missingHost: "The Host header field is missing."
    case .repeatedHost: "There is more than one Host header field."
    case .malformedHost: "The Host header field is not valid."
    case .repeatedAuthorization: "There is more than one Authorization header field."
    case .emptyAuthorization: "The Authorization header field is empty."
    case .malformedContentLength: "The Content-Length header field is not valid."
    case .repeatedContentLength: "There is more than one Content-Length."
    case .conflictingFraming: "Content-Length and Transfer-Encoding exclude each other."
    case .transferCodingInHTTP10: "An HTTP/1.0 request cannot have a Transfer-Encoding."
    case .repeatedTransferEncoding: "There is more than one Transfer-Encoding header field."
    case .unknownTransferCoding: "The only transfer coding this server knows is chunked."
    case .unknownExpectation: "The only expectation this server knows is 100-continue."
    case .contentTooLarge: "The body is larger than this route takes."
    case .unknownContentCoding: "The body's Content-Encoding is none that this server knows."
    case .malformedContentCoding: "The body is not what its Content-Encoding says."
    case .malformedChunk: "The chunked body is not valid."
    case .chunkOverhead: "The chunked body is mostly chunk extensions."
    case .malformedTrailer: "A trailer field line is not valid."
    case .trailerTooLarge: "The trailer section is larger than this server takes."
    case .timedOut: "The request did not arrive in time."
    }
  }
}
