import CLinux
import Glibc

extension ReactorCore {
  func connect(
    to endpoint: Endpoint, tls: TLSClientContext?, serverName: String?, deadline: LoopInstant,
    delegate: any StreamDelegate, on reactor: isolated Reactor
  ) -> ByteStream {
    let name: String? =
      switch endpoint {
      case .host(let host, _): serverName ?? host
      case .unix: serverName
      }
    let stream = ByteStream(
      descriptor: -1, remoteAddress: .unix(path: ""), phase: .connecting,
      tls: tls.flatMap { $0.makeSession(serverName: name) }, core: self)
    stream.delegate = delegate
    if tls != nil, stream.tls == nil {
      stream.end(.tls(.handshake("no session for this server name")))
      return stream
    }
    let connector = Connector(stream: stream, core: self, deadline: deadline)
    stream.connector = connector
    connector.start(endpoint, on: reactor)
    return stream
  }

  /// Takes ownership of an accepted descriptor.
  ///
  /// - Parameter isRefused: whether it is the spare descriptor, for a client that is refused.
  @discardableResult
  func adopt(
    _ descriptor: Int32, from address: SocketAddress, tls: TLSServerContext?,
    acceptor: any StreamAcceptor, isRefused: Bool = false, on reactor: isolated Reactor
  ) -> ByteStream {
    let session = tls?.makeSession()
    let stream = ByteStream(
      descriptor: descriptor, remoteAddress: address, phase: .connecting, tls: session, core: self)
    guard tls == nil || session != nil, !isStopped,
      let delegate = isRefused
        ? acceptor.acceptedOnSpare(stream, on: reactor) : acceptor.accepted(stream, on: reactor),
      stream.phase != .closed
    else {
      stream.reset()
      return stream
    }
    stream.delegate = delegate
    let token = slots.insert(stream)
    stream.token = token
    do throws(SystemError) {
      try epoll.watch(descriptor, as: token, events: Readiness.edgeTriggeredStream)
    } catch {
      stream.end(.failed(error))
      return stream
    }
    stream.connected(on: reactor)
    return stream
  }
}

extension ByteStream {
  func becomeOpen() {
    phase = .open
    connector?.cancel()
    connector = nil
  }

  /// Opens the connected stream, or begins its TLS handshake.
  func connected(on reactor: isolated Reactor) {
    guard phase == .connecting else { return }
    if tls != nil {
      phase = .handshaking
      _ = advanceHandshake(on: reactor)
    } else {
      becomeOpen()
      delegate?.opened(self, on: reactor)
      if phase == .open || phase == .closing { pumpPlainOutput() }
    }
  }
}
