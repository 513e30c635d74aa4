import HTTPServer
import TestSupport
import Testing
import Transport

struct ConnectionCapTests {
  @Test func idleConnectionsMakeRoom() async throws {
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
      #expect(await server.eventually { requests.value == 1 })
      // The first may still be busy when the second comes: then that one is told to come again.
      var status = 503
      while status == 503 {
        status = try await server.withClient { try $0.request("GET", "/").status }
      }
      #expect(status == 200)
      let wasClosed = try await first.value
      #expect(wasClosed)
    }
  }

  @Test func aFullServerSaysSo() async throws {
    var limits = ServerLimits()
    limits.connectionsMax = 1
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits) { server in
      let first = Task { try await server.withClient { try $0.request("GET", "/").status } }
      #expect(await server.eventually { gate.arrivals == 1 })
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

  @Test func oneAddressCanBeBounded() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddressMax = 1
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits) { server in
      let first = Task { try await server.withClient { try $0.request("GET", "/").status } }
      #expect(await server.eventually { gate.arrivals == 1 })
      let second = try await server.withPeer { peer in
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(second == "")
      gate.open()
      let outcome = try await first.value
      #expect(outcome == 200)
    }
  }

  @Test func rudeClientsLeaveNothingBehind() async throws {
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
      // Connections are accepted in their order: behind this one, all have been.
      _ = try await server.withClient { try $0.request("GET", "/").status }
      #expect(await server.eventually { server.service.connectionCount == 0 })
      #expect(await server.group.reactors[0].openCount == 1)
    }
  }
}
