import CLinux
import Glibc

/// One loop's listening socket.
final class Listener: EventReceiver, TimerDelegate {
  /// Connections accepted in one turn before the loop serves existing ones.
  static let acceptsPerTurnMax = 64
  /// Connections that the kernel queues; also the limit on accepts before closing.
  static let backlog: Int32 = 1024
  /// The pause after running out of descriptors.
  static let exhaustionPause: Duration = .milliseconds(10)
  /// How long a refused client can keep the spare descriptor, for a handshake and a response; a slow
  /// client would otherwise block all others. If others wait, it keeps it only until the response has
  /// been written.
  static let refusalDeadline: Duration = .milliseconds(500)

  private let descriptor: Int32
  private let isTCP: Bool
  /// For new connections; accepted ones keep the context they began with.
  var tls: TLSServerContext?
  private let acceptor: any StreamAcceptor
  private let core: ReactorCore
  private var token: SlotToken?
  private var pause: LoopTimer?
  /// Whether the last attempt found no free descriptor.
  private var isShort = false
  /// The client being refused, which uses a spare descriptor.
  private var refused: (stream: ByteStream, until: LoopInstant)?
  private var isClosed = false

  /// Takes ownership of `descriptor`.
  init(
    descriptor: Int32, isTCP: Bool, tls: TLSServerContext?, acceptor: any StreamAcceptor,
    on reactor: isolated Reactor
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.isTCP = isTCP
    self.tls = tls
    self.acceptor = acceptor
    core = reactor.core
    core.spares.prepare()
    pause = LoopTimer(delegate: self, on: reactor)
    let token = core.slots.insert(self)
    self.token = token
    do throws(SystemError) {
      try core.epoll.watch(descriptor, as: token, events: Readiness.edgeTriggeredRead)
    } catch {
      close()
      throw error
    }
  }

  func receive(_ readiness: Readiness, on reactor: isolated Reactor) {
    if acceptSome(Self.acceptsPerTurnMax, on: reactor), let token { core.continueLater(token) }
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    endRefusal()
    if let token { core.continueLater(token) }
  }

  func loopStops() {
    close()
  }

  /// Refuses new handshakes; connections whose handshake has begun are still accepted.
  func refuseHandshakes() {
    if !isClosed { _ = HandshakeFilter.attach(to: descriptor, isTCP: isTCP) }
  }

  /// Accepts the queued connections, then closes: closing alone would reset connections that are
  /// established for their clients.
  func stop(on reactor: isolated Reactor) {
    guard !isClosed else { return }
    _ = acceptSome(Int(Self.backlog), on: reactor)
    close()
  }

  /// Accepts up to `count` connections. Returns true if more may be waiting.
  private func acceptSome(_ count: Int, on reactor: isolated Reactor) -> Bool {
    for _ in 0..<count {
      guard !isClosed else { return false }
      do throws(SystemError) {
        guard let (socket, address) = try accept() else { return false }
        core.adopt(socket, from: address, tls: tls, acceptor: acceptor, on: reactor)
      } catch {
        isShort = error.isOutOfDescriptors
        // The kernel reports the error before it checks for a waiting connection; the next connection
        // is a new event.
        guard !isShort || Socket.hasConnectionWaiting(descriptor) else { return false }
        if isShort { descriptorsRanOut(on: reactor) }
        pause?.set(after: Self.exhaustionPause)
        return false
      }
    }
    return true
  }

  private func accept() throws(SystemError) -> (descriptor: Int32, address: SocketAddress)? {
    guard isShort else { return try Socket.accept(from: descriptor) }
    // Another loop may just have released a spare descriptor for itself.
    let next = try core.spares.whileNoneIsLent { () throws(SystemError) in
      try Socket.accept(from: descriptor)
    }
    isShort = false
    return next
  }

  private func close() {
    guard !isClosed else { return }
    isClosed = true
    pause?.cancel()
    if let token { core.slots.remove(token) }
    Glibc.close(descriptor)
    // That connection continues without the listener; its descriptor is spare once it is closed.
    if refused.take() != nil { core.spares.takeBack() }
  }
}

/// Handling of a lack of descriptors.
extension Listener {
  private func descriptorsRanOut(on reactor: isolated Reactor) {
    guard refused == nil, !acceptor.descriptorsRanOut(on: reactor) else { return }
    let next = core.spares.lend { try? Socket.accept(from: descriptor) }
    guard let (socket, address) = next else { return }
    let stream = core.adopt(
      socket, from: address, tls: tls, acceptor: acceptor, isRefused: true, on: reactor)
    refused = (stream, core.now + Self.refusalDeadline)
    endRefusal()
  }

  /// Takes the spare descriptor back from the refused client, if the refusal is complete.
  private func endRefusal() {
    guard let (stream, deadline) = refused else { return }
    let isInTheWay = stream.hasShutDownWriting && Socket.hasConnectionWaiting(descriptor)
    guard stream.phase == .closed || deadline <= core.now || isInTheWay else {
      pause?.set(after: Self.exhaustionPause)
      return
    }
    stream.close()
    stream.reset()  // if anything is unsent
    refused = nil
    core.spares.takeBack()
  }
}

/// Stops new handshakes on a listening socket before it closes.
///
/// Closing a listener resets connections that have not been accepted, and connections keep arriving
/// between the last `accept` and `close`. So new handshakes are blocked first: for TCP by a filter
/// (socket(7), SO_ATTACH_FILTER) that drops segments which request a connection. Handshakes in progress
/// continue, and the client's next attempt, a second later, reaches the next listener.
enum HandshakeFilter {
  /// The offset of the flags in a TCP header (RFC 9293 3.1), which is where a TCP socket's filter starts.
  private static let flagsOffset: UInt32 = 13
  private static let flagsOfInterest: UInt32 = 0x16  // SYN, RST, ACK
  private static let flagsOfFirstSegment: UInt32 = 0x02  // SYN alone
  private static let wholeSegment = UInt32.max

  /// Blocks new handshakes. Returns whether that succeeded: some sandboxes do not support filters.
  static func attach(to socket: Int32, isTCP: Bool) -> Bool {
    // A Unix socket has its own call: new connections are refused, established ones can be accepted.
    guard isTCP else { return shutdown(socket, Int32(SHUT_RD)) == 0 }
    var program = [
      sock_filter(code: UInt16(BPF_LD | BPF_B | BPF_ABS), jt: 0, jf: 0, k: flagsOffset),
      sock_filter(code: UInt16(BPF_ALU | BPF_AND | BPF_K), jt: 0, jf: 0, k: flagsOfInterest),
      sock_filter(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: 0, jf: 1, k: flagsOfFirstSegment),
      sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: 0),
      sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: wholeSegment),
    ]
    return program.withUnsafeMutableBufferPointer { program in
      var filter = sock_fprog(len: UInt16(program.count), filter: program.baseAddress)
      let size = socklen_t(MemoryLayout<sock_fprog>.size)
      return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, size) == 0
    }
  }
}
