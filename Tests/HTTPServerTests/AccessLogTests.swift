import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing
import Transport

struct AccessLogTests {
  private final class Sink: AccessLog {
    let entries = Mutex<[AccessLogEntry]>([])

    func record(_ entry: AccessLogEntry) { entries.withLock { $0.append(entry) } }
  }

  @Test func everyAnswerHasItsLine() async throws {
    let sink = Sink()
    var handler = ScriptedHandler { _ in .text("hello", status: .created) }
    handler.look = { head, _, output in
      guard head.path.elementsEqual("/fast".utf8) else { return false }
      output.append("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      return true
    }
    try await ServerFixture.serve(handler, accessLog: sink) { server in
      try await server.withClient { client in
        _ = try client.request("GET", "/a?x=1&ticket=secret&y=2", headers: [("Request-Id", "r1")])
        _ = try client.request("GET", "/fast")
        try client.send("nonsense\r\n")
        _ = try client.response()
      }
      let entries = sink.entries.withLock { $0 }
      #expect(entries.map(\.status) == [201, 200, 400])
      #expect(entries.map(\.method) == ["GET", "GET", "-"])
      #expect(entries.map(\.target) == ["/a?x=1&ticket=…&y=2", "/fast", "-"])
      #expect(entries[0].requestID == "r1")
      #expect(entries[1].bytes == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8.count)
      #expect(entries[0].remoteAddress.host == "127.0.0.1")
    }
  }
}
