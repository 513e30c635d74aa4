import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing

struct RequestBodyTests {
  /// Sends the content back as it comes, framed as it came.
  private let echo = ScriptedHandler(bodyBytesMax: 64 << 20) { request in
    ServerResponse(
      body: .stream(length: request.body.length) { writer in
        for try await chunk in request.body { try await writer.write(chunk) }
      })
  }

  private static func collecting(upTo bytesMax: Int) -> ScriptedHandler {
    ScriptedHandler(bodyBytesMax: 64 << 20) { request in
      do {
        return .text("\(try await request.body.collect(upTo: bytesMax).count)")
      } catch BodyReadError.tooLarge {
        return .problem(.contentTooLarge, for: request)
      } catch {
        return .text("\(error)", status: .badRequest)
      }
    }
  }

  @Test("Content of known length reaches the handler")
  func echoesContentOfKnownLength() async throws {
    let body = String(repeating: "0123456789", count: 300_000)
    try await ServerFixture.serve(echo) { server in
      let response = try await server.withClient { try $0.request("POST", "/", body: body) }
      #expect(response["content-length"] == "3000000")
      #expect(response.text == body)
    }
  }

  /// A handler of long content may compute for long: here until another request was answered, on a
  /// server with one loop.
  @Test("Long content, and content of unknown length, is answered beside the loop")
  func longContentKeepsNoLoop() async throws {
    for isChunked in [false, true] {
      let isAnswered = Atomic(false)
      let computes = Gate()
      let handler = ScriptedHandler(bodyBytesMax: 1 << 20) { request in
        guard request.method == .post else {
          isAnswered.store(true, ordering: .releasing)
          return .text("short")
        }
        let count = (try? await request.body.collect(upTo: 1 << 20).count) ?? -1
        computes.open()
        let deadline = ContinuousClock.now + .seconds(20)
        while !isAnswered.load(ordering: .acquiring), ContinuousClock.now < deadline {}
        return .text("\(count) \(isAnswered.load(ordering: .acquiring))")
      }
      try await ServerFixture.serve(handler) { server in
        let content = String(repeating: "x", count: 20_000)
        let framing =
          isChunked
          ? "Transfer-Encoding: chunked\r\n\r\n4e20\r\n\(content)\r\n0\r\n\r\n"
          : "Content-Length: 20000\r\n\r\n\(content)"
        async let long = server.withPeer { peer in
          peer.send("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + framing)
          try peer.receiveToEnd()
          return peer.text
        }
        await computes.wait()
        let short = try await server.withClient { try $0.request("GET", "/").text }
        #expect(short == "short")
        #expect(try await long.hasSuffix("20000 true"), "chunked: \(isChunked)")
      }
    }
  }

  @Test("Chunked content reaches the handler and can be sent as chunks")
  func echoesChunks() async throws {
    try await ServerFixture.serve(echo) { server in
      let response = try await server.withClient { client in
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.send("5;a=b\r\nhello\r\n")
        try client.send("7\r\n, world\r\n0\r\nX-Sum: 1\r\n\r\n")
        return try client.response()
      }
      #expect(response["transfer-encoding"] == "chunked")
      #expect(response.text == "hello, world")
    }
  }

  @Test("100 Continue is sent when the handler reads")
  func continueIsSentWhenTheHandlerReads() async throws {
    try await ServerFixture.serve(Self.collecting(upTo: 100)) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        try peer.receive(upTo: "\r\n\r\n")
        peer.send("hello")
        try peer.receive(upTo: "\r\n\r\n5")
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
      #expect(!text.contains("Connection: close"))
    }
  }

  @Test("A final response takes the place of 100 Continue")
  func finalResponseReplacesContinue() async throws {
    try await ServerFixture.serve(ScriptedHandler { _ in .text("no", status: .forbidden) }) {
      server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
      #expect(text.contains("\r\nConnection: close\r\n"))
    }
  }

  @Test("Content over the limit is refused before it is sent")
  func tooLargeContentIsRefusedBeforeItIsSent() async throws {
    let handler = ScriptedHandler(bodyBytesMax: 4) { _ in .text("unreachable") }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
      #expect(text.contains("\r\nContent-Type: application/problem+json\r\n"))
      #expect(text.contains("\r\nDate: "))
      #expect(text.contains("\"code\":\"body_too_large\""))
    }
  }

  @Test("Collecting content is limited")
  func collectingIsBounded() async throws {
    try await ServerFixture.serve(Self.collecting(upTo: 10)) { server in
      let statuses = try await server.withClient { client in
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.send("8\r\n12345678\r\n")
        try client.send("3\r\n123\r\n0\r\n\r\n")
        return [
          try client.response().status, try client.request("POST", "/", body: "12345").status,
        ]
      }
      #expect(statuses == [413, 200])
    }
  }

  @Test("Faulty content is refused in place of the handler's response")
  func faultyContentIsRefused() async throws {
    let failure = Mutex<BodyReadError?>(nil)
    let handler = ScriptedHandler { request in
      do throws(BodyReadError) {
        _ = try await request.body.collect(upTo: 100)
      } catch {
        failure.withLock { $0 = error }
      }
      return .text("dropped")
    }
    try await ServerFixture.serve(handler) { server in
      let text = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n")
        peer.send("Expect: 100-continue\r\n\r\n")
        // From here on the handler waits for content.
        try peer.receive(upTo: "\r\n\r\n")
        peer.send("3\r\nabc\r\nzz\r\n")
        try peer.receiveToEnd()
        return peer.text
      }
      #expect(text.contains("HTTP/1.1 400 Bad Request\r\n"))
      #expect(!text.contains("dropped"))
      let isTold = await eventuallyHolds {
        failure.withLock { $0 } == .refused(.malformedChunk)
      }
      #expect(isTold)
    }
  }

  @Test("An unread body keeps the connection usable")
  func unreadBodyKeepsTheConnectionUsable() async throws {
    try await ServerFixture.serve(ScriptedHandler { .text($0.path, status: .notFound) }) { server in
      let bodies = try await server.withClient { client in
        [
          try client.request("POST", "/1", body: String(repeating: "x", count: 100_000)).text,
          try client.request("GET", "/2").text,
        ]
      }
      #expect(bodies == ["/1", "/2"])
    }
  }

  @Test("The socket is not read while the reader lags")
  func theSocketWaitsForTheReader() async throws {
    let gate = Gate()
    let handler = ScriptedHandler(bodyBytesMax: 256 << 20) { request in
      await gate.wait()
      return .text("\((try? await request.body.collect(upTo: 256 << 20).count) ?? -1)")
    }
    try await ServerFixture.serve(handler) { server in
      let sent = try await server.withPeer { peer in
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 134217728\r\n\r\n")
        return peer.send([UInt8](repeating: 0, count: 128 << 20))
      }
      // The kernel's buffers take some megabytes, the server next to nothing.
      #expect(sent < 64 << 20)
      gate.open()
    }
  }

  @Test("A slow reader gets a large body whole")
  func slowReaderGetsALargeBodyWhole() async throws {
    let handler = ScriptedHandler(bodyBytesMax: 64 << 20) { request in
      var count = 0
      do {
        for try await chunk in request.body {
          count += chunk.count
          await Task.yield()
        }
      } catch {
        return .text("\(error)", status: .badRequest)
      }
      return .text("\(count)")
    }
    try await ServerFixture.serve(handler) { server in
      let response = try await server.withClient { client in
        try client.request("POST", "/", body: String(repeating: "x", count: 20 << 20))
      }
      #expect(response.text == "\(20 << 20)")
    }
  }
}
