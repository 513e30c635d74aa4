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
  /// Given up to accept, and refuse, a connection when no descriptor is left: it would otherwise
  /// stay in the queue, and its client would wait for nothing. -1 while `refused` has its place.
  private var spare: Int32
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
    spare = Self.openSpare()
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
        guard let (socket, address) = try Socket.accept(from: descriptor) else { return false }
        core.adopt(socket, from: address, tls: tls, acceptor: acceptor, on: reactor)
      } catch {
        // The kernel says so before it looks whether anybody waits, and tells of the next who comes.
        guard !error.isOutOfDescriptors || Socket.hasConnectionWaiting(descriptor) else {
          return false
        }
        if error.isOutOfDescriptors { descriptorsRanOut(on: reactor) }
        pause?.set(after: Self.exhaustionPause)
        return false
      }
    }
    return true
  }

  private func close() {
    guard !isClosed else { return }
    isClosed = true
    pause?.cancel()
    if let token { core.slots.remove(token) }
    Glibc.close(descriptor)
    if spare >= 0 { Glibc.close(spare) }
  }
}

/// What is done with no descriptor left.
extension Listener {
  private func descriptorsRanOut(on reactor: isolated Reactor) {
    guard refused == nil, !acceptor.descriptorsRanOut(on: reactor) else { return }
    if spare >= 0 { Glibc.close(spare) }
    spare = -1
    // Another thread may be quicker; then the next try, after the pause, finds one again.
    if let (socket, address) = try? Socket.accept(from: descriptor) {
      let stream = core.adopt(
        socket, from: address, tls: tls, acceptor: acceptor, isRefused: true, on: reactor)
      refused = (stream, core.now + Self.refusalDeadline)
    }
    endRefusal()
  }

  /// Takes the spare descriptor back from whoever was refused, if that is over.
  private func endRefusal() {
    if let (stream, deadline) = refused {
      let isInTheWay = stream.hasShutDownWriting && Socket.hasConnectionWaiting(descriptor)
      guard stream.phase == .closed || deadline <= core.now || isInTheWay else {
        pause?.set(after: Self.exhaustionPause)
        return
      }
      stream.close()
      stream.reset()  // if anything is unsent
      refused = nil
    }
    if spare < 0 { spare = Self.openSpare() }
  }

  private static func openSpare() -> Int32 {
    open("/dev/null", O_RDONLY | O_CLOEXEC)
  }
}
