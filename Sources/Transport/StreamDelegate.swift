import Glibc

/// The owner of a byte stream, called synchronously on the stream's loop.
///
/// The order is `opened`, then any number of `received` and `drained`, `reachedEnd` at most once, and
/// `closed` exactly once and last, whatever happened and whichever side closed. A stream that never
/// opened (connect or handshake failed) calls only `closed`. The stream never calls the delegate from
/// within a call by the delegate: `close()` and a failing `write` are reported at the end of the turn.
package protocol StreamDelegate: AnyObject {
  /// The connection is established and, with TLS, the handshake done and the peer verified.
  func opened(_ stream: ByteStream, on reactor: isolated Reactor)

  /// Bytes arrived. They are in a buffer that all streams of the loop share: copy what must outlive the
  /// call.
  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor)

  /// The peer has finished sending. Writing is still possible; close the stream when done.
  /// `stream.endedCleanly` is false if TLS did not confirm the end.
  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor)

  /// After the stream was `isBackedUp`, the waiting bytes have fallen to `stream.writeLowWatermark`, and
  /// no file is waiting.
  func drained(_ stream: ByteStream, on reactor: isolated Reactor)

  /// The stream has ended and its descriptor is closed. Unwritten bytes are lost unless `reason` is
  /// `.closedHere`.
  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor)
}

extension StreamDelegate {
  package func opened(_ stream: ByteStream, on reactor: isolated Reactor) {}
  package func drained(_ stream: ByteStream, on reactor: isolated Reactor) {}
}

/// The receiver of the connections that one loop's listener accepts. It belongs to that loop, so it can
/// hold state without locks (a count per address, the list of idle connections).
package protocol StreamAcceptor: AnyObject {
  /// Accepts a connection from `stream.remoteAddress`. Returns its delegate, or nil to reset it. The
  /// stream opens (`opened`) after this, with TLS once the handshake is done.
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)?

  /// Called when no descriptor is left for a waiting connection. Closes unneeded connections, the longest
  /// idle first; returns whether there may soon be room. It is called again after a pause.
  func descriptorsRanOut(on reactor: isolated Reactor) -> Bool

  /// Accepts a connection on the spare descriptor, since none could be freed. Returns a delegate that
  /// refuses the client and closes soon: other clients wait in the meantime, and after
  /// ``Listener/refusalDeadline`` the connection is reset. Returns nil to reset it at once.
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

/// The reason a stream has ended.
package enum CloseReason: Equatable, Sendable {
  /// `close()`: the kernel has accepted everything written.
  case closedHere
  /// `reset()`: bytes may have been lost, and the peer sees a reset.
  case resetHere
  /// The peer reset the connection, or closed it during a write.
  case resetByPeer
  /// Nothing was acknowledged for so long that the kernel gave up.
  case timedOut
  /// The connection could not be established; nothing was sent.
  case connectFailed(ConnectFailure)
  /// The handshake failed (no application data was sent) or a record was invalid.
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

/// The reason a connection could not be established.
package enum ConnectFailure: Error, Equatable, Sendable {
  /// The name has no address, or the lookup failed; the text is the resolver's.
  case unresolved(String)
  /// Every address was tried; the error is the last one's.
  case refused(SystemError)
  case deadlineExceeded
}
