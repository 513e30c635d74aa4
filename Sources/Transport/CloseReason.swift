import Glibc

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
