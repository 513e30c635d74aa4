/// Why an upstream's answer cannot be used. The connection it came on is of no further use.
package enum ResponseError: Error, Sendable, Hashable {
  case malformedStatusLine
  case unsupportedVersion
  case malformedField
  case foldedField
  case bareLineFeed
  case headTooLarge
  case tooManyFields
  case malformedContentLength
  case conflictingContentLengths
  case conflictingFraming
  case unknownTransferCoding
  case tooManyInterimResponses
  case unaskedUpgrade
  case body(BodyError)
  /// The peer closed before a byte of the answer: sending again is safe where the method is.
  case closedBeforeResponse
  /// The peer closed within the answer.
  case closedInsideResponse
  /// Bytes came that no request asked for.
  case unaskedBytes
}

extension ResponseError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformedStatusLine: "its status line is malformed"
    case .unsupportedVersion: "its HTTP version is not supported"
    case .malformedField: "a header field is malformed"
    case .foldedField: "a header field is folded over lines"
    case .bareLineFeed: "a line ends without a carriage return"
    case .headTooLarge: "its head is too large"
    case .tooManyFields: "it has too many header fields"
    case .malformedContentLength: "its Content-Length is malformed"
    case .conflictingContentLengths: "it has two Content-Lengths"
    case .conflictingFraming: "it has both Content-Length and Transfer-Encoding"
    case .unknownTransferCoding: "its Transfer-Encoding is unknown"
    case .tooManyInterimResponses: "too many interim responses came before it"
    case .unaskedUpgrade: "it switches protocols without having been asked"
    case .body(let error): "its body is malformed (\(error))"
    case .closedBeforeResponse: "the connection ended before it"
    case .closedInsideResponse: "the connection ended within it"
    case .unaskedBytes: "bytes came that no request asked for"
    }
  }
}
