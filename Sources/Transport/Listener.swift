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

  private let descriptor: Int32
  /// For connections to come; those accepted keep what they began with.
  var tls: TLSServerContext?
  private let acceptor: any StreamAcceptor
  private let core: ReactorCore
  private var token: SlotToken?
  private var pause: LoopTimer?
  /// Given up to accept, and so refuse, a connection when no descriptor is left: it would otherwise
  /// stay in the queue, and its client would wait for nothing.
  private var spare: Int32
  private var isClosed = false

  /// Takes over `descriptor`.
  init(
    descriptor: Int32, tls: TLSServerContext?, acceptor: any StreamAcceptor,
    on reactor: isolated Reactor
  ) throws(SystemError) {
    self.descriptor = descriptor
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
    if let token { core.continueLater(token) }
  }

  func loopStops() {
    close()
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
        if error.isOutOfDescriptors {
          if acceptor.descriptorsRanOut(on: reactor) { continue }
          refuseOne()
        }
        pause?.set(after: Self.exhaustionPause)
        return false
      }
    }
    return true
  }

  private func refuseOne() {
    if spare >= 0 { Glibc.close(spare) }
    // Another thread may be quicker; then the next try, after the pause, finds one again.
    if let (socket, _) = try? Socket.accept(from: descriptor) {
      Socket.closeResets(socket)
      Glibc.close(socket)
    }
    spare = Self.openSpare()
  }

  private func close() {
    guard !isClosed else { return }
    isClosed = true
    pause?.cancel()
    if let token { core.slots.remove(token) }
    Glibc.close(descriptor)
    if spare >= 0 { Glibc.close(spare) }
  }

  private static func openSpare() -> Int32 {
    open("/dev/null", O_RDONLY | O_CLOEXEC)
  }
}
