/// An answer that can be given again to requests with the very bytes of the one it was made for.
package protocol RepeatableAnswer: AnyObject, Sendable {
  /// Writes the complete response, as ``RequestHandler/answerAtOnce(_:stamp:into:)`` would.
  ///
  /// - Returns: false, with nothing written, once this answer is no longer right. It is forgotten
  ///   then, and the request read.
  func write(stamp: ResponseStamp, into output: inout [UInt8]) -> Bool
}
