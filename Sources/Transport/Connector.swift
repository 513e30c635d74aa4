import CLinux
import Glibc

/// Establishes a stream's connection: looks up the name, then tries the addresses one after another.
///
/// Address families alternate, the first address's family first, so that one broken family costs one
/// attempt (in the spirit of RFC 8305, one attempt at a time). Each attempt gets a fair share of the
/// remaining time, so that an unreachable address does not use the whole deadline.
final class Connector: TimerDelegate {
  /// The minimum time of an attempt while other addresses are left.
  static let attemptMin: Duration = .milliseconds(250)

  /// Held until the attempt ends: no other object needs to retain a connecting stream.
  private let stream: ByteStream
  private let core: ReactorCore
  private let deadline: LoopInstant
  private var addresses: ArraySlice<SocketAddress> = []
  private var lastFailure: ConnectFailure = .deadlineExceeded
  private var timer: LoopTimer?
  private var isOver = false

  init(stream: ByteStream, core: ReactorCore, deadline: LoopInstant) {
    self.stream = stream
    self.core = core
    self.deadline = deadline
  }

  func start(_ endpoint: Endpoint, on reactor: isolated Reactor) {
    let timer = LoopTimer(delegate: self, on: reactor)
    self.timer = timer
    timer.set(deadline)
    switch endpoint {
    case .unix(let path):
      addresses = [.unix(path: path)]
      tryNext(on: reactor)
    case .host(let host, let port):
      if let address = SocketAddress(numericHost: host, port: port) {
        addresses = [address]
        tryNext(on: reactor)
      } else {
        lookUp(host, port: port, on: reactor)
      }
    }
  }

  func cancel() {
    timer?.cancel()
    timer = nil
    isOver = true
  }

  /// Handles the result of the current attempt's socket.
  func socketIsReady(on reactor: isolated Reactor) {
    guard stream.descriptor >= 0 else { return }
    let code = Socket.pendingError(of: stream.descriptor)
    if code == 0 {
      succeed(on: reactor)
    } else {
      attemptFailed(.refused(SystemError("connect", code: code)), on: reactor)
    }
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    if core.now >= deadline || stream.phase != .connecting { return fail(.deadlineExceeded) }
    attemptFailed(.refused(SystemError("connect", code: ETIMEDOUT)), on: reactor)
  }

  private func lookUp(_ host: String, port: UInt16, on reactor: isolated Reactor) {
    Task.immediate {
      _ = reactor
      let result = await Resolver.addresses(of: host, port: port, on: core.resolver)
      guard !isOver else { return }
      switch result {
      case .success(let found):
        addresses = Self.interleaved(found)[...]
        tryNext(on: reactor)
      case .failure(let failure):
        fail(failure)
      }
    }
  }

  private func tryNext(on reactor: isolated Reactor) {
    while let address = addresses.popFirst() {
      stream.releaseDescriptor()
      stream.remoteAddress = address
      do throws(SystemError) {
        if try beginAttempt(address) { return succeed(on: reactor) }
        limitAttempt()
        return
      } catch {
        lastFailure = .refused(error)
      }
    }
    fail(lastFailure)
  }

  /// Returns true if the connection was established at once, as on a Unix socket.
  private func beginAttempt(_ address: SocketAddress) throws(SystemError) -> Bool {
    let descriptor = try Socket.open(family: address.family)
    stream.descriptor = descriptor
    if address.port != nil { try Socket.tuneTCP(descriptor) }
    let token = core.slots.insert(stream)
    stream.token = token
    let connected = address.withSockaddr { connect(descriptor, $0, $1) }
    guard let connected else { throw SystemError("connect", code: ENAMETOOLONG) }
    if connected != 0, errno != EINPROGRESS { throw SystemError("connect") }
    try core.epoll.watch(descriptor, as: token, events: Readiness.edgeTriggeredStream)
    return connected == 0
  }

  private func limitAttempt() {
    guard !addresses.isEmpty else {
      timer?.set(deadline)
      return
    }
    let share = deadline.elapsed(since: core.now) / (addresses.count + 1)
    timer?.set(min(deadline, core.now + max(share, Self.attemptMin)))
  }

  private func attemptFailed(_ failure: ConnectFailure, on reactor: isolated Reactor) {
    lastFailure = failure
    tryNext(on: reactor)
  }

  /// Completes the connection. The deadline still applies to a TLS handshake.
  private func succeed(on reactor: isolated Reactor) {
    timer?.set(deadline)
    stream.connected(on: reactor)
  }

  private func fail(_ failure: ConnectFailure) {
    stream.end(.connectFailed(failure))
  }

  /// The addresses with alternating families.
  static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    let preferred = addresses.filter { $0.family == first.family }
    let others = addresses.filter { $0.family != first.family }
    var result: [SocketAddress] = []
    for index in 0..<max(preferred.count, others.count) {
      if index < preferred.count { result.append(preferred[index]) }
      if index < others.count { result.append(others[index]) }
    }
    return result
  }
}

extension Reactor {
  /// Begins a connection. The stream calls its delegate's `opened`, or `closed` with `.connectFailed` or
  /// `.tls`; `deadline` covers the name lookup, the connect and the TLS handshake.
  package func connect(
    to endpoint: Endpoint, tls: TLSClientContext? = nil, serverName: String? = nil,
    deadline: LoopInstant, delegate: sending any StreamDelegate
  ) -> ByteStream {
    core.connect(
      to: endpoint, tls: tls, serverName: serverName, deadline: deadline, delegate: delegate,
      on: self)
  }
}
