import HTTPServer
import HTTPWire
import TestSupport
import Testing

struct KeepAliveTests {
  private let echoPath = ScriptedHandler { .text($0.path) }

  @Test("One connection serves many requests")
  func oneConnectionServesManyRequests() async throws {
    try await ServerFixture.serve(echoPath) { server in
      let bodies = try await server.withClient { client in
        try (0..<50).map { try client.request("GET", "/\($0)").text }
      }
      #expect(bodies == (0..<50).map { "/\($0)" })
    }
  }

  @Test("Pipelined requests are answered in order")
  func pipelinedRequestsAreAnsweredInOrder() async throws {
    // The first response takes longest; the others must wait for it.
    let gate = Gate()
    let handler = ScriptedHandler { request in
      if request.path == "/0" { await gate.wait() }
      return .text(request.path)
    }
    try await ServerFixture.serve(handler) { server in
      let client = Task {
        try await server.withClient { client in
          try client.send((0..<20).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
          return try (0..<20).map { _ in try client.response().text }
        }
      }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      gate.open()
      let bodies = try await client.value
      #expect(bodies == (0..<20).map { "/\($0)" })
    }
  }

  @Test("Connection: close is honoured and sent back")
  func closeIsHonouredAndSent() async throws {
    try await ServerFixture.serve(echoPath) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.contains("\r\nConnection: close\r\n"))
      #expect(text.hasSuffix("\r\n\r\n/a"))
    }
  }

  @Test("An HTTP/1.0 client can keep the connection with keep-alive")
  func http10ClientsCanKeepTheConnection() async throws {
    try await ServerFixture.serve(echoPath) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        try peer.receive(upTo: "\r\n\r\n/a")
        peer.send("GET /b HTTP/1.0\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.contains("\r\nConnection: keep-alive\r\n"))
      #expect(text.hasSuffix("\r\n\r\n/b"))
    }
  }

  @Test("A half-closed client gets all its responses")
  func halfClosedClientsGetAllResponses() async throws {
    let gate = Gate()
    let handler = ScriptedHandler { request in
      if request.path == "/0" { await gate.wait() }
      return .text(request.path)
    }
    try await ServerFixture.serve(handler) { server in
      let client = Task {
        try await server.withPeer { peer in
          peer.send("GET /0 HTTP/1.1\r\nHost: x\r\n\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
          peer.finishSending()
          try peer.receiveToEnd()
          return peer.text
        }
      }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      gate.open()
      let text = try await client.value
      #expect(text.contains("\r\n\r\n/0"))
      #expect(text.hasSuffix("\r\n\r\n/1"))
    }
  }

  /// More than is read ahead, sent in one go.
  @Test(
    "Pipelined requests are answered, however few bytes are read ahead",
    arguments: [1024, 3000, 64 * 1024])
  func pipelinedRequestsAreAnsweredHoweverLittleIsReadAhead(bytes: Int) async throws {
    var limits = ServerLimits()
    limits.readAheadBytesMax = bytes
    try await ServerFixture.serve(echoPath, limits: limits) { server in
      let paths = (0..<2000).map { "/\($0)" }
      let text = try await server.withPeer { peer in
        for path in paths { peer.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        peer.finishSending()
        try peer.receiveToEnd()
        return peer.text
      }
      let bodies = text.split(separator: "HTTP/1.1 200 OK\r\n").map { answer in
        answer.split(separator: "\r\n\r\n").last.map(String.init) ?? ""
      }
      #expect(bodies == paths)
    }
  }

  @Test("The number of requests on one connection is limited")
  func requestsOnOneConnectionAreBounded() async throws {
    var limits = ServerLimits()
    limits.connection.requestsMax = 3
    try await ServerFixture.serve(echoPath, limits: limits) { server in
      let fields = try await server.withClient { client in
        let fields = try (0..<3).map { try client.request("GET", "/\($0)")["connection"] }
        return (fields, client.isClosedByPeer())
      }
      #expect(fields.0 == [nil, nil, "close"])
      #expect(fields.1)
    }
  }
}
