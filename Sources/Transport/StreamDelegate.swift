import Glibc

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

/// Takes the connections that one loop's listener accepts. It belongs to that loop, so it may hold
/// state without locks (a count for each address, the list of idle connections).
package protocol StreamAcceptor: AnyObject {
  /// A connection came in from `stream.remoteAddress`. Returns its delegate, or nil to have it
  /// reset. The stream opens (`opened`) after this, with TLS once the handshake is done.
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)?

  /// No descriptor is left for a connection that waits. Has some closed that nobody needs, the
  /// longest idle first; returns whether there may soon be room. It is asked again after a pause.
  func descriptorsRanOut(on reactor: isolated Reactor) -> Bool

  /// A connection that nothing could be closed for came in on the descriptor that is kept for this.
  /// Returns a delegate that tells the client so and ends, soon: meanwhile others wait, and after
  /// ``Listener/refusalDeadline`` the connection is cut off. Nil to have it reset.
  func acceptedOnSpare(
    _ stream: ByteStream, on reactor: isolated Reactor
  ) -> (any StreamDelegate)?
}

extension StreamAcceptor {
  package func descriptorsRanOut(on reactor: isolated Reactor) -> Bool { false }

  package func acceptedOnSpare(
    _ stream: ByteStream, on reactor: isolated Reactor
  ) -> (any StreamDelegate)? { nil }
}

/// Why a stream is over.
package enum CloseReason: Equatable, Sendable {
  /// `close()`: everything written has been handed to the kernel.
  case closedHere
  /// `reset()`: bytes may have been lost, and the peer sees a reset.
  case resetHere
  /// The peer reset the connection, or closed it while we were writing.
  case resetByPeer
  /// Nothing was acknowledged for so long that the kernel gave up.
  case timedOut
  /// The connection could not be made; nothing was sent.
  case connectFailed(ConnectFailure)
  /// The handshake failed (nothing of the application's was sent) or a record was invalid.
  case tls(TLSFailure)
  case failed(SystemError)
  case loopStopped

  static func from(_ error: SystemError) -> CloseReason {
    switch error.code {
    case ECONNRESET, EPIPE: .resetByPeer
    case ETIMEDOUT: .timedOut
    default: .failed(error)
    }
  }
}

/// Why a connection could not be made.
package enum ConnectFailure: Error, Equatable, Sendable {
  /// The name has no address, or the look-up failed; the text is the resolver's.
  case unresolved(String)
  /// Every address was tried; the error is the last one's.
  case refused(SystemError)
  case deadlineExceeded
}
