import Glibc
import TestSupport
import Testing

@testable import Transport

struct ListenerTests {
  @Test("A second server fails because the address is in use")
  func secondServerFailsWithAddressInUse() async throws {
    try await withLoops { group in
      let log = ServerLog()
      let first = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        EchoAcceptor(log: log)
      }
      let endpoint = Endpoint.host("127.0.0.1", port: first.address.port ?? 0)
      _ = await #expect(throws: ListenError.addressInUse("\(endpoint)")) {
        try await group.listen(on: endpoint) { _ in EchoAcceptor(log: log) }
      }
      await first.stopAccepting()
      let second = try await group.listen(on: endpoint) { _ in EchoAcceptor(log: log) }
      #expect(second.address == first.address)
    }
  }

  @Test("An address of another machine is refused")
  func addressOfAnotherMachineIsRefused() async throws {
    try await withLoops(1) { group in
      _ = await #expect(throws: ListenError.addressNotAvailable("192.0.2.1:0")) {
        try await group.listen(on: .host("192.0.2.1", port: 0)) { _ in
          EchoAcceptor(log: ServerLog())
        }
      }
    }
  }

  @Test("A dead socket file is replaced and a live one is not")
  func deadSocketFileIsReplacedAndALiveOneIsNot() async throws {
    let folder = try TestFolder("transport")
    defer { folder.remove() }
    let path = folder.path + "/server.sock"
    // A server that died: bound and closed, the file stays.
    let dead = try Socket.open(family: AF_UNIX)
    try Socket.bind(dead, to: .unix(path: path))
    close(dead)
    try await withLoops(1) { group in
      let log = ServerLog()
      let server = try await group.listen(on: .unix(path: path)) { _ in EchoAcceptor(log: log) }
      _ = await #expect(throws: ListenError.addressInUse("unix:\(path)")) {
        try await group.listen(on: .unix(path: path)) { _ in EchoAcceptor(log: log) }
      }
      await server.stopAccepting()
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test("A socket file is for owner and group, and another server's file is kept")
  func socketFileHasGroupModeAndForeignFileIsKept() async throws {
    let folder = try TestFolder("transport")
    defer { folder.remove() }
    let path = folder.path + "/server.sock"
    try await withLoops { group in
      let server = try await group.listen(on: .unix(path: path)) { _ in
        EchoAcceptor(log: ServerLog())
      }
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
      // Another server has replaced the file in the meantime.
      unlink(path)
      close(open(path, O_CREAT | O_WRONLY, 0o600))
      await server.stopAccepting()
      #expect(access(path, F_OK) == 0)
    }
  }

  @Test(
    "An invalid socket path is named in the error",
    arguments: ["/nowhere/server.sock", "/tmp/" + String(repeating: "x", count: 120)])
  func invalidPathIsReported(path: String) async throws {
    try await withLoops(1) { group in
      let error = await #expect(throws: ListenError.self) {
        try await group.listen(on: .unix(path: path)) { _ in EchoAcceptor(log: ServerLog()) }
      }
      #expect(error?.description.contains(path) == true, "\(String(describing: error))")
    }
  }

  @Test("A file that is not a socket is kept")
  func fileThatIsNoSocketIsKept() async throws {
    let folder = try TestFolder("transport")
    defer { folder.remove() }
    let path = folder.path + "/precious"
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    try await withLoops(1) { group in
      _ = await #expect(throws: ListenError.addressInUse("unix:\(path)")) {
        try await group.listen(on: .unix(path: path)) { _ in EchoAcceptor(log: ServerLog()) }
      }
    }
    #expect(access(path, F_OK) == 0)
  }

  @Test("Connections queued before the stop are served")
  func connectionsQueuedBeforeTheStopAreServed() async throws {
    try await withLoops(2) { group in
      let log = ServerLog()
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        EchoAcceptor(log: log)
      }
      let port = server.address.port ?? 0
      var peers: [RawPeer] = []
      for _ in 0..<50 { peers.append(try RawPeer(connectedTo: port)) }
      await server.stopAccepting()
      for peer in peers {
        try peer.send([5])
        #expect(try peer.receive(1) == [5])
      }
      #expect(throws: TestFailure.self) { try RawPeer(connectedTo: port) }
    }
  }

  /// They connect all the while that listening ends: who is connected is served.
  @Test("Established Unix connections are served when listening stops")
  func establishedUnixConnectionsAreServed() async throws {
    for _ in 0..<20 {
      let folder = try TestFolder("transport")
      defer { folder.remove() }
      let path = folder.path + "/server.sock"
      try await withLoops(2) { group in
        let log = ServerLog()
        let server = try await group.listen(on: .unix(path: path)) { _ in EchoAcceptor(log: log) }
        let clients = (0..<3).map { _ in
          Task {
            try await onOwnThread { () throws -> Int in
              var answered = 0
              while let peer = try RawPeer(connectedTo: path) {
                try peer.send([7])
                guard try peer.receive(1) == [7] else { throw TestFailure("connected, not served") }
                answered += 1
              }
              return answered
            }
          }
        }
        #expect(await eventuallyHolds { log.current.accepted > 50 })
        await server.stopAccepting()
        var answered = 0
        for client in clients { answered += try await client.value }
        #expect(answered == log.current.accepted)
      }
    }
  }

  /// Established connections are still accepted; new ones are neither accepted nor refused.
  @Test("A socket with the handshake filter begins no connection")
  func filteredSocketBeginsNoConnection() throws {
    let wanted = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
    let (sockets, address) = try BoundSockets.open(wanted, count: 1)
    defer { close(sockets[0]) }
    let early = try RawPeer(connectedTo: address.port ?? 0)
    #expect(HandshakeFilter.attach(to: sockets[0], isTCP: true))
    let late = try Socket.open(family: AF_INET)
    defer { close(late) }
    #expect(address.withSockaddr { connect(late, $0, $1) } == -1 && errno == EINPROGRESS)
    var outcome = pollfd(fd: late, events: Int16(POLLOUT), revents: 0)
    #expect(poll(&outcome, 1, 200) == 0)
    let accepted = try #require(try Socket.accept(from: sockets[0]))
    defer { close(accepted.descriptor) }
    #expect(try Socket.accept(from: sockets[0])?.descriptor == nil)
    // The filter comes with the connection, and lets what belongs to it pass.
    try early.send([1])
    var byte: UInt8 = 0
    var input = pollfd(fd: accepted.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&input, 1, 2000) == 1)
    #expect(recv(accepted.descriptor, &byte, 1, 0) == 1 && byte == 1)
  }

  @Test("Accepted sockets have the TCP options")
  func acceptedSocketsAreTuned() async throws {
    try await withLoops(1) { group in
      let probe = OptionProbe()
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        ProbingAcceptor(probe: probe)
      }
      let peer = try RawPeer(connectedTo: server.address.port ?? 0)
      try peer.send([1])
      #expect(await eventuallyHolds { probe.options.count == 3 })
      #expect(probe.options == [1, 1, Socket.userTimeoutMilliseconds])
    }
  }

  @Test("An acceptor can refuse a connection")
  func acceptorCanRefuse() async throws {
    try await withLoops(1) { group in
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in RefusingAcceptor()
      }
      let client = await TestClient(
        .host("127.0.0.1", port: server.address.port ?? 0), on: group.reactors[0])
      // The reset may come before the client has seen its connect succeed.
      switch await client.closeReason() {
      case .resetByPeer, .connectFailed: break
      case let other: Issue.record("not refused: \(String(describing: other))")
      }
      #expect(await group.reactors[0].openCount == 1)
    }
  }
}

private final class RefusingAcceptor: StreamAcceptor {
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? { nil }
}
