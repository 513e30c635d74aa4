import CLinux
import Glibc

/// A bound address with one listening socket for each loop of a group.
///
/// TCP: the first socket is bound without SO_REUSEPORT, so that a second server gets an error that the
/// address is in use instead of silently taking half the connections; the others join it with
/// SO_REUSEPORT and the kernel spreads connections among them. Unix: all loops share one queue.
package final class ServerSocket: Sendable {
  /// The bound address; with the assigned port if 0 was requested.
  package let address: SocketAddress
  private let listeners: [(reactor: Reactor, id: Int)]
  /// The Unix socket's file, removed at the end.
  private let file: UnixSocketFile?

  init(
    address: SocketAddress, listeners: [(reactor: Reactor, id: Int)], file: UnixSocketFile? = nil
  ) {
    self.address = address
    self.listeners = listeners
    self.file = file
  }

  /// Uses another certificate for new connections. Has no effect on a socket without TLS.
  package func replaceTLS(with context: TLSServerContext) async {
    for (reactor, id) in listeners { await reactor.replaceTLS(of: id, with: context) }
  }

  /// Stops listening. Queued connections are accepted first, and accepted ones stay open.
  ///
  /// - Parameter handshakes: how long handshakes in progress can take. No new ones begin from now on, so
  ///   that no client loses an established connection.
  package func stopAccepting(after handshakes: Duration = .zero) async {
    file?.remove()
    // A connection to a Unix socket is established at once: there is nothing to wait for.
    let isTCP = address.port != nil
    if !isTCP || handshakes > .zero {
      for (reactor, id) in listeners { await reactor.refuseHandshakes(of: id) }
      if isTCP { try? await Task.sleep(for: handshakes) }
    }
    for (reactor, id) in listeners { await reactor.stopListener(id) }
  }
}

extension EventLoopGroup {
  /// Listens on every loop of the group. `makeAcceptor` is called once on each loop. The kernel
  /// queues up to `backlog` connections for each loop, 1024 by default.
  package func listen(
    on endpoint: Endpoint, tls: TLSServerContext? = nil, backlog: Int? = nil,
    makeAcceptor: @Sendable (isolated Reactor) -> any StreamAcceptor
  ) async throws(ListenError) -> ServerSocket {
    let wanted = try await socketAddress(for: endpoint)
    let (sockets, address): ([Int32], SocketAddress)
    do throws(SystemError) {
      (sockets, address) = try BoundSockets.open(
        wanted, count: reactors.count,
        backlog: backlog.map { Int32(clamping: $0) } ?? Listener.backlog)
    } catch {
      throw ListenError.from(error, endpoint: endpoint)
    }
    var listeners: [(reactor: Reactor, id: Int)] = []
    var failure: SystemError?
    for (reactor, socket) in zip(reactors, sockets) {
      do throws(SystemError) {
        let id = try await reactor.listen(
          on: socket, isTCP: address.port != nil, tls: tls, makeAcceptor: makeAcceptor)
        listeners.append((reactor, id))
      } catch {
        failure = error
      }
    }
    let server = ServerSocket(
      address: address, listeners: listeners, file: UnixSocketFile(at: address))
    guard let failure else { return server }
    await server.stopAccepting()
    throw .failed("\(endpoint)", failure)
  }

  private func socketAddress(for endpoint: Endpoint) async throws(ListenError) -> SocketAddress {
    switch endpoint {
    case .unix(let path):
      return .unix(path: path)
    case .host(let host, let port):
      if let address = SocketAddress(numericHost: host, port: port) { return address }
      switch await Resolver.addresses(of: host, port: port, on: blockingPool) {
      case .success(let addresses) where !addresses.isEmpty: return addresses[0]
      case .failure(.unresolved(let reason)): throw .unresolved("\(host): \(reason)")
      default: throw .unresolved(host)
      }
    }
  }
}

extension ListenError {
  static func from(_ error: SystemError, endpoint: Endpoint) -> ListenError {
    switch error.code {
    case EADDRINUSE: .addressInUse("\(endpoint)")
    case EADDRNOTAVAIL: .addressNotAvailable("\(endpoint)")
    case EACCES, EPERM: .notPermitted("\(endpoint)")
    default: .failed("\(endpoint)", error)
    }
  }
}

extension Reactor {
  func listen(
    on descriptor: Int32, isTCP: Bool, tls: TLSServerContext?,
    makeAcceptor: @Sendable (isolated Reactor) -> any StreamAcceptor
  ) throws(SystemError) -> Int {
    let listener = try Listener(
      descriptor: descriptor, isTCP: isTCP, tls: tls, acceptor: makeAcceptor(self), on: self)
    return core.add(listener)
  }

  func replaceTLS(of id: Int, with context: TLSServerContext) {
    guard let listener = core.listeners[id], listener.tls != nil else { return }
    listener.tls = context
  }

  func refuseHandshakes(of id: Int) {
    core.listeners[id]?.refuseHandshakes()
  }

  func stopListener(_ id: Int) {
    core.removeListener(id)?.stop(on: self)
  }
}

/// The reason listening failed.
package enum ListenError: Error, Equatable, Sendable {
  /// Another process (or another listener of this one) has the address.
  case addressInUse(String)
  /// The address is not one of this machine's.
  case addressNotAvailable(String)
  /// A privileged port, or a folder without write permission.
  case notPermitted(String)
  case unresolved(String)
  case failed(String, SystemError)
}

extension ListenError: CustomStringConvertible {
  /// A message for the operator.
  package var description: String {
    switch self {
    case .addressInUse(let address): "\(address) is in use by another process"
    case .addressNotAvailable(let address): "\(address) is not an address of this machine"
    case .notPermitted(let address): "this user has no permission to listen on \(address)"
    case .unresolved(let host): "\(host) has no address"
    case .failed(let address, let error): "\(address): \(error)"
    }
  }
}
