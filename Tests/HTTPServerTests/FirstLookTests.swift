import HTTPServer
import HTTPWire
import TestSupport
import Testing

struct FirstLookTests {
  private static func handler(_ looks: Count) -> ScriptedHandler {
    var handler = ScriptedHandler { .text("slow \($0.path)") }
    handler.look = { head, content, stamp, output in
      looks.add()
      guard head.path.elementsEqual("/fast".utf8) || content.elementsEqual("quick".utf8) else {
        return false
      }
      output.append("HTTP/1.1 203 Fine\r\n")
      stamp.appendDate(to: &output)
      stamp.appendRequestID(for: head, to: &output)
      output.append("Content-Length: 4\r\n\r\n")
      if head.method != .head { output.append("fast") }
      return true
    }
    return handler
  }

  @Test("An immediate response is sent unchanged")
  func immediateResponseIsSentUnchanged() async throws {
    let looks = Count()
    try await ServerFixture.serve(Self.handler(looks)) { server in
      let text = try await server.withPeer { peer in
        peer.send("GET /fast HTTP/1.1\r\nHost: x\r\nRequest-Id: me\r\n\r\n")
        try peer.receive(upTo: "fast")
        return peer.text
      }
      let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
      #expect(lines.count == 6)
      #expect(lines[0] == "HTTP/1.1 203 Fine")
      #expect(lines[1].hasPrefix("Date: "))
      #expect(lines[2] == "Request-Id: me")
    }
  }

  @Test("Immediate and handler responses keep the order of requests")
  func immediateResponsesKeepTheOrder() async throws {
    let looks = Count()
    try await ServerFixture.serve(Self.handler(looks)) { server in
      let bodies = try await server.withClient { client in
        try client.send(
          ["/fast", "/a", "/fast", "/b", "/fast"].map {
            "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n"
          }.joined())
        return try (0..<5).map { _ in try client.response().text }
      }
      #expect(bodies == ["fast", "slow /a", "fast", "slow /b", "fast"])
      #expect(looks.value == 5)
    }
  }

  @Test("The handler itself omits content of an immediate response to HEAD")
  func immediateResponseHandlesHead() async throws {
    let looks = Count()
    try await ServerFixture.serve(Self.handler(looks)) { server in
      let response = try await server.withClient { client in
        [try client.request("HEAD", "/fast"), try client.request("GET", "/fast")]
      }
      #expect(response[0].body.isEmpty)
      #expect(response[1].text == "fast")
    }
  }

  @Test(
    "No immediate response is requested if the server must change it",
    arguments: [
      "GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET /fast HTTP/1.0\r\n\r\n",
      "GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
    ])
  func immediateResponseIsNotRequestedForSpecialRequests(request: String) async throws {
    let looks = Count()
    try await ServerFixture.serve(Self.handler(looks)) { server in
      let text = try await server.withPeer { peer in
        peer.send(request)
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasSuffix("slow /fast"))
      #expect(looks.value == 0)
    }
  }

  @Test("A request is answered immediately with content that has arrived with its head")
  func immediateResponseSeesContent() async throws {
    let looks = Count()
    try await ServerFixture.serve(Self.handler(looks)) { server in
      let bodies = try await server.withClient { client in
        try client.send(
          ["quick", "slower", "quick"].map {
            "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)"
          }.joined())
        return try (0..<3).map { _ in try client.response().text }
      }
      #expect(bodies == ["fast", "slow /a", "fast"])
      #expect(looks.value == 3)
    }
  }

  @Test(
    "Content in chunks, too long or expected to wait leaves a request to its handler",
    arguments: [
      "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nquick",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nquick\r\n0\r\n\r\n",
      "Content-Length: 8193\r\n\r\n" + String(repeating: "q", count: 8193),
    ])
  func immediateResponseNeedsAllContent(rest: String) async throws {
    let looks = Count()
    try await ServerFixture.serve(Self.handler(looks)) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST /a HTTP/1.1\r\nHost: x\r\n\(rest)")
        try peer.receive(upTo: "slow /a")
        return peer.text
      }
      #expect(text.contains("HTTP/1.1 200 OK\r\n"))
      #expect(looks.value == 0)
    }
  }
}
