import CLinux
import Glibc

/// One connection as bytes in both directions, accepted or connected, plain or TLS.
///
/// A stream belongs to its loop's `Reactor` and is used only there. Reading is push-based: the delegate
/// gets bytes as they arrive, until `pauseReading()`. Writing never blocks: bytes that the kernel does
/// not accept at once wait in the stream, and the writer watches `isBackedUp` and `drained`.
package final class ByteStream {
  /// The phases of a stream. They follow each other in this order and never go back.
  enum Phase {
    /// A name lookup or `connect` is in progress; there may be no descriptor yet.
    case connecting
    /// The TLS handshake is in progress. Writes are kept until it is done.
    case handshaking
    case open
    /// `close()` was called and output is left to write. Nothing more is read.
    case closing
    /// The descriptor is closed. The delegate has been notified, or will be this turn.
    case closed
  }

  /// The default number of waiting bytes above which a writer should stop.
  static let writeHighWatermarkDefault = 256 * 1024
  /// Reads of `ReactorCore.scratchBytes` in one turn before other streams continue.
  static let readsPerTurnMax = 4
  /// Bytes that a client can send before its handshake is done. A hello takes 2 KB with the largest keys
  /// in use, and there are no client certificates.
  static let clientHandshakeBytesMax = 32 * 1024

  package internal(set) var remoteAddress: SocketAddress
  /// False when TLS ended without its closing alert, so a body that ends with the connection may be
  /// cut short (RFC 8446, 6.1).
  package internal(set) var endedCleanly = true
  /// Bytes that are read and delivered at once, which limits what a delegate must keep when it pauses. At
  /// most ``ReactorCore/scratchBytes``.
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
  /// Output for the kernel: plain bytes and files, or TLS records.
  var output = OutputQueue()
  /// Output before encryption: writes that wait for the handshake or after a file, and that file.
  var plainOutput = OutputQueue()
  /// True from the moment more than `writeHighWatermark` bytes wait, or a file, until `drained`.
  package internal(set) var isBackedUp = false
  var isReadingPaused = false
  /// Whether an edge arrived while reading was paused or the turn's share was used.
  var hasUnread = false
  /// Whether the peer has closed its side or the connection: read to the end, also after short reads.
  var isEnding = false
  var hasReachedEnd = false
  var shouldShutDownWriting = false
  var hasShutDownWriting = false
  /// Bytes that the kernel has accepted, including files and TLS records.
  var handedOver = 0
  /// Whether the kernel accepted less than it was given. It reports when there is room again; until then
  /// another attempt would fail, or send little at a time.
  var isFull = false
  /// The failure of a write. Bytes that the peer sent before are still read, then the stream ends.
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

  /// Whether the stream is open: false from `close()` or the first failure on. A failed write leaves it
  /// true until the bytes received before are read.
  package var isOpen: Bool {
    switch phase {
    case .connecting, .handshaking, .open: true
    case .closing, .closed: false
    }
  }

  /// Whether `write` has an effect.
  package var acceptsWrites: Bool { isOpen && !shouldShutDownWriting && writeFailure == nil }

  package var isSecure: Bool { tls != nil }

  /// The protocol chosen by ALPN, nil without TLS or without a choice.
  package var negotiatedProtocol: String? { tls?.negotiatedProtocol }

  /// Bytes written that the kernel has not accepted, without files.
  package var unsentBytes: Int { output.byteCount + plainOutput.byteCount }

  /// Whether the kernel has accepted everything written, files included.
  package var isFlushed: Bool { output.isEmpty && plainOutput.isEmpty }

  /// Bytes that the peer's kernel has acknowledged: those that the local kernel has accepted, less those
  /// it still keeps. Costs a system call. With a slow peer a megabyte waits in the kernel, so
  /// ``unsentBytes`` says little about its pace. Over a Unix socket it is an estimate, which can decrease
  /// and lags behind, see ``acknowledgementLagBytes``.
  package var acknowledgedBytes: Int {
    handedOver - (descriptor < 0 ? 0 : Socket.unacknowledgedBytes(of: descriptor))
  }

  /// Bytes written that the peer's kernel has not acknowledged. Costs a system call.
  package var unacknowledgedBytes: Int {
    unsentBytes + (descriptor < 0 ? 0 : Socket.unacknowledgedBytes(of: descriptor))
  }

  /// Bytes that the peer may have read beyond ``acknowledgedBytes``.
  package var acknowledgementLagBytes: Int {
    if case .unix = remoteAddress { Self.unixLagBytes } else { 0 }
  }

  /// A Unix socket frees a buffer once all of it is read: 36 KiB of sent bytes, 64 KiB of a file
  /// (Linux 6.18), plus the kernel's overhead for several of them.
  private static let unixLagBytes = 80 * 1024

  /// The local address, from the kernel; nil once closed.
  var localAddress: SocketAddress? {
    descriptor < 0 ? nil : Socket.localAddress(of: descriptor)
  }

  /// The time of the loop's current turn.
  package var now: LoopInstant { core.now }
}
