import CLinux
import Glibc

/// One loop's listening socket.
final class Listener: EventReceiver, TimerDelegate {
  /// Connections accepted in one turn before the loop serves those it has.
  static let acceptsPerTurnMax = 64
  /// Connections the kernel queues for us; also bounds the accepts before closing.
  static let backlog: Int32 = 1024
  /// The pause after running out of descriptors.
  static let exhaustionPause: Duration = .milliseconds(10)
  /// How long a client that is refused may keep the spare descriptor: it has a handshake and an
  /// answer before it, and would otherwise hold up all others by being slow. Where others wait, it
  /// has until it has been told.
  static let refusalDeadline: Duration = .milliseconds(500)

  private let descriptor: Int32
  private let isTCP: Bool
  /// For connections to come; those accepted keep what they began with.
  var tls: TLSServerContext?
  private let acceptor: any StreamAcceptor
  private let core: ReactorCore
  private var token: SlotToken?
  private var pause: LoopTimer?
  /// The last attempt found no descriptor.
  private var isShort = false
  /// A client that is being told so. It has the place of a spare descriptor.
  private var refused: (stream: ByteStream, until: LoopInstant)?
  private var isClosed = false

  /// Takes over `descriptor`.
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

  /// Begins no more connections; those that have begun are still accepted.
  func refuseHandshakes() {
    if !isClosed { _ = HandshakeFilter.attach(to: descriptor, isTCP: isTCP) }
  }

  /// Accepts what has queued up, then closes: closing alone would reset connections that clients
  /// believe to be made.
  func stop(on reactor: isolated Reactor) {
    guard !isClosed else { return }
    _ = acceptSome(Int(Self.backlog), on: reactor)
    close()
  }

  /// Returns true when more may wait.
  private func acceptSome(_ count: Int, on reactor: isolated Reactor) -> Bool {
    for _ in 0..<count {
      guard !isClosed else { return false }
      do throws(SystemError) {
        guard let (socket, address) = try accept() else { return false }
        core.adopt(socket, from: address, tls: tls, acceptor: acceptor, on: reactor)
      } catch {
        isShort = error.isOutOfDescriptors
        // The kernel says so before it looks whether anybody waits, and tells of the next who comes.
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
    // Another loop may just have given a spare one up, which is not for this.
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
    // That connection goes on without this; its descriptor is spare when it is closed.
    if refused.take() != nil { core.spares.takeBack() }
  }
}

/// What is done with no descriptor left.
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

  /// Takes the spare descriptor back from whoever was refused, if that is over.
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

/// Has a listening socket begin no more connections while it ends.
///
/// Closing a listener resets whoever has connected and not been accepted, and connections keep
/// coming in between the last `accept` and `close`. So before that the socket is made deaf: for TCP
/// by a filter (socket(7), SO_ATTACH_FILTER) that drops segments which ask for a connection. What
/// has begun goes on, and the client's next attempt, a second later, finds whoever listens then.
enum HandshakeFilter {
  /// Where the flags stand in a TCP header (RFC 9293 3.1): a filter of a TCP socket sees it first.
  private static let flagsOffset: UInt32 = 13
  private static let flagsOfInterest: UInt32 = 0x16  // SYN, RST, ACK
  private static let flagsOfFirstSegment: UInt32 = 0x02  // SYN alone
  private static let wholeSegment = UInt32.max

  /// Returns whether the socket is deaf now. Some sandboxes do not know filters.
  static func attach(to socket: Int32, isTCP: Bool) -> Bool {
    // A Unix socket says it with a call of its own: who connects is refused, who has is accepted.
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
