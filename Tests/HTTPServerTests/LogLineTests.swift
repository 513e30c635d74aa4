import FoundationEssentials
import HTTPServer
import Synchronization
import TestSupport
import Testing

/// What clients send ends up in the log, and must not end a line or a string of it.
struct LogLineTests {
  private struct Line: Decodable {
    let time: String
    let level: String
    let method: String
    let target: String
    let status: Int
    let bytes: Int
    let durationMicroseconds: Int
    let requestID: String
    let remote: String

    private enum CodingKeys: String, CodingKey {
      case time, level, method, target, status, bytes, remote
      case durationMicroseconds = "duration_us"
      case requestID = "request_id"
    }
  }

  private static let requests = [
    "GET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a?b\"c\\d={\"e\"} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /%0d%0a%22 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: x\r\nRequest-Id: a\"b\r\nConnection: close\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: x\r\nRequest-Id: a\u{1B}[31m\r\nConnection: close\r\n\r\n",
    "GET /\u{1B}[31m HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /caf\u{E9} HTTP/1.1\r\nHost: x\r\n\r\n",
    "\"}\u{0}{\"forged\": HTTP/1.1\r\n\r\n",
    "GET /x HTTP/1.1\nHost: x\n\n",
    "GET /?ticket=secret&a=\" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  ]

  private static func lines(isJSON: Bool) async throws -> [Substring] {
    let written = Mutex("")
    let log = LineAccessLog(label: "test", isJSON: isJSON) { bytes in
      written.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    try await ServerFixture.serve(ScriptedHandler { _ in .text("x") }, accessLog: log) { server in
      for request in requests {
        try await server.withPeer { peer in
          peer.send(request)
          try peer.receiveToEnd()
        }
      }
      let isWhole = await eventuallyHolds {
        written.withLock { $0 }.split(separator: "\n").count >= requests.count
      }
      #expect(isWhole)
    }
    return written.withLock { $0 }.split(separator: "\n")
  }

  @Test("Every JSON log line is one object, whatever clients send")
  func everyJSONLineIsOneObject() async throws {
    let lines = try await Self.lines(isJSON: true)
    #expect(lines.count == Self.requests.count)
    let parsed = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    #expect(parsed.map(\.status) == [200, 200, 200, 200, 400, 400, 400, 400, 400, 200])
    #expect(parsed[1].target == "/a?b\"c\\d={\"e\"}")
    #expect(parsed[2].target == "/%0d%0a%22")
    #expect(parsed[9].target == "/?ticket=...&a=\"")
    #expect(parsed.allSatisfy { $0.level == "info" && $0.remote == "127.0.0.1" })
    #expect(parsed.allSatisfy { $0.requestID.utf8.count == 16 })
    #expect(!lines.joined().contains("secret"))
  }

  @Test("Every text log line has only printable bytes, whatever clients send")
  func everyLineOfTextIsOneLineOfPrintableBytes() async throws {
    let lines = try await Self.lines(isJSON: false)
    #expect(lines.count == Self.requests.count)
    #expect(lines.allSatisfy { $0.contains(" info test: request method=") })
    #expect(lines.joined().utf8.allSatisfy { (0x20...0x7E).contains($0) })
  }
}
