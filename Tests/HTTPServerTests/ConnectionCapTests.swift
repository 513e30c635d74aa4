import HTTPServer
import TestSupport
import Testing
import Transport

struct ConnectionCapTests {
  @Test("An idle connection is closed for a new one")
  func idleConnectionsMakeRoom() async throws {
    var limits = ServerLimits()
    limits.connectionsMax = 1
    let requests = Count()
    let handler = ScriptedHandler { _ in
      requests.add()
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits) { server in
      let first = Task {
        try await server.withClient { client in
          _ = try client.request("GET", "/")
          return client.isClosedByPeer()
        }
      }
      #expect(await eventuallyHolds { requests.value == 1 })
      // The first may still be busy when the second connects, which is then refused.
      var status = 503
      while status == 503 {
        status = try await server.withClient { try $0.request("GET", "/").status }
      }
      #expect(status == 200)
      let wasClosed = try await first.value
      #expect(wasClosed)
    }
  }

  /// Each loop knows its own connections alone; who goes is decided among all.
  @Test("The longest idle connections of all loops are evicted")
  func longestIdleConnectionsAreEvicted() async throws {
    let shed = 32  // at once
    var limits = ServerLimits()
    limits.connectionsMax = shed + 12
    try await ServerFixture.serve(ScriptedHandler { _ in .text("x") }, limits: limits, loops: 3) {
      server in
      let (statuses, closed) = try await server.withClient { newest in
        let port = server.port
        _ = try newest.request("GET", "/")
        let clients = try (1..<shed + 12).map { _ in
          let client = try RawClient(port: port)
          _ = try client.request("GET", "/")
          return client
        }
        // Not the oldest any more.
        _ = try newest.request("GET", "/")
        let newcomer = try RawClient(port: port).request("GET", "/").status
        let closed = clients.prefix(shed).map { $0.isClosedByPeer() }
        let left = try clients.dropFirst(shed).map { try $0.request("GET", "/").status }
        return (try [newcomer, newest.request("GET", "/").status] + left, closed)
      }
      #expect(statuses == Array(repeating: 200, count: limits.connectionsMax - shed + 1))
      #expect(closed == Array(repeating: true, count: shed))
    }
  }

  /// No loop has an idle connection, and each new connection finds that out in turn.
  @Test("A full server refuses many connections at once")
  func fullServerRefusesManyAtOnce() async throws {
    var limits = ServerLimits()
    limits.connectionsMax = 2
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits, loops: 2) { server in
      let busy = (0..<2).map { _ in
        Task { try await server.withClient { try $0.request("GET", "/").status } }
      }
      #expect(await eventuallyHolds { gate.arrivals == 2 })
      let statuses = try await server.withClient { first in
        let port = server.port
        let others = try (0..<20).map { _ in try RawClient(port: port) }
        return try ([first] + others).map { try $0.request("GET", "/").status }
      }
      #expect(statuses == Array(repeating: 503, count: 21))
      gate.open()
      for client in busy {
        let outcome = try await client.value
        #expect(outcome == 200)
      }
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
      let outcome = try await server.withClient { try $0.request("GET", "/").status }
      #expect(outcome == 200, "all places are free again")
    }
  }

  @Test("A full server responds with 503")
  func fullServerResponds503() async throws {
    var limits = ServerLimits()
    limits.connectionsMax = 1
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits) { server in
      let first = Task { try await server.withClient { try $0.request("GET", "/").status } }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      let second = try await server.withPeer { peer in
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(second.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
      #expect(second.contains("\r\nRetry-After: 1\r\n"))
      gate.open()
      let outcome = try await first.value
      #expect(outcome == 200)
    }
  }

  @Test("The connections of one address can be limited")
  func connectionsPerAddressCanBeLimited() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddressMax = 1
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits) { server in
      let first = Task { try await server.withClient { try $0.request("GET", "/").status } }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      for _ in 0..<3 {
        let next = try await server.withPeer { peer in
          try peer.receiveToEnd()
          return peer.text
        }
        #expect(next.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(next.contains("\r\nRetry-After: 1\r\n"))
      }
      gate.open()
      let outcome = try await first.value
      #expect(outcome == 200)
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
      let last = try await server.withClient { try $0.request("GET", "/").status }
      #expect(last == 200, "what was refused is not counted any more")
    }
  }

  @Test("A shared address is not limited")
  func sharedAddressIsNotLimited() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddressMax = 1
    let handler = ScriptedHandler { _ in .text("x") }
    let isShared: @Sendable (SocketAddress) -> Bool = { _ in true }
    try await ServerFixture.serve(handler, limits: limits, isShared: isShared) { server in
      let statuses = try await server.withClient { first in
        let port = server.port
        let others = try (0..<5).map { _ in try RawClient(port: port) }
        return try ([first] + others).map { try $0.request("GET", "/").status }
      }
      #expect(statuses == Array(repeating: 200, count: 6))
    }
  }

  @Test("Misbehaving clients leave no connection behind")
  func rudeClientsLeaveNothingBehind() async throws {
    let gate = Gate()
    let handler = ScriptedHandler { request in
      if request.path == "/wait" { await gate.wait() }
      return ServerResponse(body: .bytes([UInt8](repeating: 0x61, count: 1 << 20)))
    }
    try await ServerFixture.serve(handler) { server in
      for round in 0..<100 {
        try await server.withPeer { peer in
          peer.resetAtEnd()
          switch round % 4 {
          case 0: peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
          case 1: peer.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
          case 2: peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
          default: peer.send("GET / HT")
          }
        }
      }
      gate.open()
      // Connections are accepted in order: after this one, all have been.
      _ = try await server.withClient { try $0.request("GET", "/").status }
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
      #expect(await server.group.reactors[0].openCount == 1)
    }
  }
}
