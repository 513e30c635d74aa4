/// What a byte stream tells its owner, synchronously and on the stream's loop.
///
/// The order is `opened`, then any number of `received` and `drained`, `reachedEnd` at most once,
/// and `closed` exactly once and last, whatever happened and whoever closed. A stream that never
/// opened (connect or handshake failed) tells `closed` alone. No call is made from within a call of
/// the delegate to the stream: `close()` and a failing `write` are told at the end of the turn.
package protocol StreamDelegate: AnyObject {
  /// The connection is made and, with TLS, the handshake done and the peer verified.
  func opened(_ stream: ByteStream, on reactor: isolated Reactor)

  /// Bytes came in. They lie in a buffer that all streams of the loop share: copy what must outlive
  /// the call.
  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor)

  /// The peer sends no more. Writing is still possible; close the stream when done.
  /// `stream.endedCleanly` tells whether TLS said so too.
  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor)

  /// The bytes waiting to be written have fallen to `stream.writeLowWatermark`, with no file among
  /// them, after the stream was `isBackedUp`.
  func drained(_ stream: ByteStream, on reactor: isolated Reactor)

  /// The stream is over and its descriptor closed. Bytes not yet written are lost unless `reason`
  /// is `.closedHere`.
  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor)
}

extension StreamDelegate {
  package func opened(_ stream: ByteStream, on reactor: isolated Reactor) {}
  package func drained(_ stream: ByteStream, on reactor: isolated Reactor) {}
}
