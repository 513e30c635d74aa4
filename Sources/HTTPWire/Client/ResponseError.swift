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
