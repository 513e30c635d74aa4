import CLinux
import Glibc

/// One connection as bytes in both directions, accepted or connected, plain or TLS.
///
/// A stream belongs to its loop's `Reactor` and is used only there. Reading is pushed: bytes come to
/// the delegate as they arrive, until `pauseReading()`. Writing never blocks: what the kernel does
/// not take at once waits in the stream, and the writer watches `isBackedUp` and `drained`.
package final class ByteStream {
  /// The situations of a stream. They follow each other in this order and never go back.
  enum Phase {
    /// Names are looked up or `connect` is under way; there may be no descriptor yet.
    case connecting
    /// The TLS handshake is under way. Writes are kept until it is done.
    case handshaking
    case open
    /// `close()` was called and something is left to write. Nothing is read any more.
    case closing
    /// The descriptor is closed. The delegate has been told, or will be this turn.
    case closed
  }

  /// Waiting bytes above which a writer should stop.
  package static let writeHighWatermarkDefault = 256 * 1024
  /// Reads of `ReactorCore.scratchBytes` in one turn before other streams have theirs.
  static let readsPerTurnMax = 4
  /// What a client may send before its handshake is done. A hello takes 2 KB with the largest keys
  /// in use, and clients have no certificates here.
  static let clientHandshakeBytesMax = 32 * 1024

  package internal(set) var remoteAddress: SocketAddress
  /// False when TLS ended without its closing alert, so a body that ends with the connection may be
  /// cut short (RFC 8446, 6.1).
  package internal(set) var endedCleanly = true
  /// Bytes that are read, and delivered, at once: no more of them are on a delegate's hands when it
  /// pauses. At most ``ReactorCore/scratchBytes``.
  package var readBytesMax = ReactorCore.scratchBytes
  package var writeHighWatermark = writeHighWatermarkDefault
  package var writeLowWatermark = writeHighWatermarkDefault / 4

  let core: ReactorCore
  var delegate: (any StreamDelegate)?
  var phase: Phase
  var descriptor: Int32
  var token: SlotToken?
  var tls: TLSSession?
  var handshakeBytes = 0
  var connector: Connector?
  /// As the kernel will see it: plain bytes and files, or TLS records.
  var output = OutputQueue()
  /// Before TLS: writes that wait for the handshake or behind a file, and that file.
  var plainOutput = OutputQueue()
  /// True from the moment more than `writeHighWatermark` bytes wait, or a file, until `drained`.
  package internal(set) var isBackedUp = false
  var isReadingPaused = false
  /// An edge came while reading was paused or the turn's share was used up.
  var hasUnread = false
  /// The peer has shut its side or the connection is gone: read to the end, also after short reads.
  var isEnding = false
  var hasReachedEnd = false
  var shouldShutDownWriting = false
  var hasShutDownWriting = false
  /// Bytes that the kernel has taken, files and records of TLS included.
  var handedOver = 0
  /// The kernel took less than it was given; it says when there is room again. Until then another try
  /// would be in vain, or send a little at a time.
  var isFull = false
  /// A write has failed. What the peer sent before it went is still read, then the stream ends.
  var writeFailure: CloseReason?
  var reason: CloseReason?

  init(
    descriptor: Int32, remoteAddress: SocketAddress, phase: Phase, tls: TLSSession?,
    core: ReactorCore
  ) {
    self.descriptor = descriptor
    self.remoteAddress = remoteAddress
    self.phase = phase
    self.tls = tls
    self.core = core
  }

  /// False from `close()` or the first failure on; a write that failed leaves it true until what
  /// came before is read.
  package var isOpen: Bool {
    switch phase {
    case .connecting, .handshaking, .open: true
    case .closing, .closed: false
    }
  }

  /// True while `write` has an effect.
  package var acceptsWrites: Bool { isOpen && !shouldShutDownWriting && writeFailure == nil }

  package var isSecure: Bool { tls != nil }

  /// The protocol chosen by ALPN, nil without TLS or without a choice.
  package var negotiatedProtocol: String? { tls?.negotiatedProtocol }

  /// Bytes written that the kernel has not taken, without stretches of files.
  package var unsentBytes: Int { output.byteCount + plainOutput.byteCount }

  /// True when everything written, files included, has been handed to the kernel.
  package var isFlushed: Bool { output.isEmpty && plainOutput.isEmpty }

  /// Bytes that the peer's kernel has taken since the beginning: what the kernel here has, less what
  /// it still keeps. A call to the kernel; what waits there is a megabyte with a peer that is slow, so
  /// ``unsentBytes`` says little about its pace. Over a Unix socket an estimate, which may fall, and
  /// comes late, see ``acknowledgementLagBytes``.
  package var acknowledgedBytes: Int {
    handedOver - (descriptor < 0 ? 0 : Socket.unacknowledgedBytes(of: descriptor))
  }

  /// Bytes that the peer may have taken beyond ``acknowledgedBytes``.
  package var acknowledgementLagBytes: Int {
    if case .unix = remoteAddress { Self.unixLagBytes } else { 0 }
  }

  /// A Unix socket gives a piece back once all of it is read: 36 KiB of what was sent, 64 KiB of a
  /// file (Linux 6.18), and what the kernel needs for several of them besides.
  private static let unixLagBytes = 80 * 1024

  /// Our end's address, asked from the kernel; nil once closed.
  package var localAddress: SocketAddress? {
    descriptor < 0 ? nil : Socket.localAddress(of: descriptor)
  }

  /// The time of the loop's current turn.
  package var now: LoopInstant { core.now }
}
