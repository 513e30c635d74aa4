import HTTPServer
import HTTPTypes
import TestSupport
import Testing
import Transport

struct ResponseTests {
  @Test("Every response has Date, Request-Id and nosniff")
  func everyResponseIsStamped() async throws {
    try await ServerFixture.serve(ScriptedHandler { _ in .text("x") }) { server in
      let responses = try await server.withClient { client in
        [
          try client.request("GET", "/"),
          try client.request("GET", "/", headers: [("Request-Id", "abc-1.2_3")]),
          try client.request("GET", "/", headers: [("Request-Id", "not good")]),
        ]
      }
      for response in responses {
        #expect(response["x-content-type-options"] == "nosniff")
        #expect(response["date"]?.hasSuffix(" GMT") == true)
      }
      #expect(responses[1]["request-id"] == "abc-1.2_3")
      let made = [responses[0]["request-id"], responses[2]["request-id"]]
      #expect(made.allSatisfy { $0?.count == 16 })
      #expect(made[0] != made[1])
    }
  }

  @Test("A response to HEAD has the fields of GET and no content")
  func headHasTheFieldsOfGetAndNoContent() async throws {
    try await ServerFixture.serve(ScriptedHandler { _ in .text("hello") }) { server in
      let text = try await server.withPeer { peer in
        peer.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receive(upTo: "hello")
        return peer.text
      }
      let answers = text.components(by: "HTTP/1.1 200 OK\r\n")
      #expect(answers.count == 2)
      #expect(answers.allSatisfy { $0.contains("\r\nContent-Length: 5\r\n") })
      #expect(answers.first?.hasSuffix("\r\n\r\n") == true)
    }
  }

  @Test(
    "204 and 304 have no content",
    arguments: [204, 304])
  func someStatusesHaveNoContent(status: Int) async throws {
    let handler = ScriptedHandler { _ in
      var response = ServerResponse.text("must not be sent")
      response.status = .init(code: status)
      return response
    }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 \(status) "))
      #expect(text.hasSuffix("\r\n\r\n"))
      #expect(!text.contains("Content-Length"))
      #expect(!text.contains("Transfer-Encoding"))
    }
  }

  @Test("An HTTP/1.0 client reads a stream to the end of the connection")
  func http10ClientsReadStreamsToTheEnd() async throws {
    let handler = ScriptedHandler { _ in
      ServerResponse(
        body: .stream { writer in
          try await writer.write("one ")
          try await writer.write("two")
        })
    }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.contains("\r\nConnection: close\r\n"))
      #expect(text.hasSuffix("\r\n\r\none two"))
    }
  }

  @Test("A client can detect a broken stream")
  func brokenStreamIsDetectable() async throws {
    struct Broken: Error {}
    let handler = ScriptedHandler { request in
      let length = request.path == "/length" ? 100 : nil
      return ServerResponse(
        body: .stream(length: length) { writer in
          try await writer.write("some")
          if request.path == "/throws" { throw Broken() }
        })
    }
    try await ServerFixture.serve(handler) { server in
      for path in ["/throws", "/length"] {
        let text = try await server.withPeer { peer in
          peer.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
          try peer.receiveToEnd()
          return peer.text
        }
        #expect(!text.hasSuffix("0\r\n\r\n"), "\(path)")
      }
      let whole = try await server.withClient { try $0.request("GET", "/whole") }
      #expect(whole.text == "some")
    }
  }

  @Test("A writer waits for the client and learns of its disconnect")
  func writersWaitForTheClientAndLearnOfItsEnd() async throws {
    let written = Count()
    let ended = Gate()
    let handler = ScriptedHandler { _ in
      ServerResponse(
        body: .stream { writer in
          do {
            for _ in 0..<4096 {
              try await writer.write([UInt8](repeating: 0x61, count: 64 * 1024))
              written.add(64 * 1024)
            }
          } catch {
            ended.open()
            throw error
          }
        })
    }
    try await ServerFixture.serve(handler) { server in
      try await server.withPeer { peer in
        peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receiveFirst()
        peer.resetAtEnd()
      }
      await ended.wait()
      #expect(written.value < 128 << 20)
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  @Test("Unread responses do not pile up")
  func unreadResponsesDoNotPileUp() async throws {
    let answers = Count()
    let handler = ScriptedHandler { _ in
      answers.add()
      return ServerResponse(body: .bytes([UInt8](repeating: 0x61, count: 1 << 20)))
    }
    try await ServerFixture.serve(handler) { server in
      let port = server.port
      try await server.group.blockingPool.run { () throws -> Void in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        _ = peer.send(
          Array(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 1000).utf8))
        try peer.receiveFirst()
        // Once another connection has its response, all input of the first has been processed.
        _ = try RawClient(port: port).request("GET", "/")
        #expect(answers.value < 20)
      }
    }
  }

  @Test("Line breaks in a field value cannot inject a field")
  func injectedFieldsStayInTheirLine() async throws {
    let handler = ScriptedHandler { request in
      var response = ServerResponse.text("x")
      response.fields[.location] = request.path + "\r\nX-Injected: yes"
      return response
    }
    try await ServerFixture.serve(handler) { server in
      let response = try await server.withClient { try $0.request("GET", "/") }
      #expect(response["x-injected"] == nil)
      #expect(response["location"]?.contains("X-Injected") == true)
    }
  }
}

extension String {
  fileprivate func components(by separator: String) -> [Substring] {
    var parts: [Substring] = []
    var rest = self[...]
    while let place = rest.firstRange(of: separator) {
      if !rest[..<place.lowerBound].isEmpty { parts.append(rest[..<place.lowerBound]) }
      rest = rest[place.upperBound...]
    }
    if !rest.isEmpty { parts.append(rest) }
    return parts
  }
}
