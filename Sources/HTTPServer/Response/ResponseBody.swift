package import Transport

/// The content of an answer.
package enum ResponseBody: Sendable {
  /// Sent as content of zero bytes where the status can have content.
  case none
  case bytes([UInt8])
  /// Written piece by piece, as fast as the client takes it. The closure runs on the connection's
  /// loop after the head has gone out, and is cancelled when the connection is gone. Throwing cuts
  /// the answer short, which the client can tell.
  ///
  /// `length` is given where it is known; writing any other number of bytes is such a cut.
  case stream(
    length: Int? = nil, write: @Sendable (inout ResponseWriter) async throws -> Void)
  /// A stretch of a file.
  case file(OpenFile, Range<Int>)
}
