import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing
import Transport

struct AccessLogTests {
  /// What was noted, kept beyond the call that lends it.
  private struct Note: Equatable {
    var method: RequestMethod?
    var target: String
    var status: Int
    var bytes: Int
    var requestID: String
    var remoteHost: String
  }

  private final class Sink: AccessLog {
    let notes = Mutex<[Note]>([])
    let batches = Mutex<[[UInt8]]>([])

    var isOn: Bool { true }

    func append(_ entry: borrowing AccessLogEntry, to bytes: inout [UInt8]) {
      let note = Note(
        method: entry.method, target: String(decoding: entry.target, as: UTF8.self),
        status: entry.status, bytes: entry.bytes,
        requestID: String(decoding: entry.requestID, as: UTF8.self),
        remoteHost: entry.remoteAddress.host)
      notes.withLock { $0.append(note) }
      bytes.append(contentsOf: "\(entry.status)\n".utf8)
    }

    func take(_ notes: [UInt8]) { batches.withLock { $0.append(notes) } }

    func finish() async {}
  }

  @Test("Every response has an access log entry")
  func everyResponseIsLogged() async throws {
    let sink = Sink()
    var handler = ScriptedHandler { _ in .text("hello", status: .created) }
    handler.look = { head, _, stamp, output in
      guard head.path.elementsEqual("/fast".utf8) else { return false }
      output.append("HTTP/1.1 200 OK\r\n")
      stamp.appendRequestID(for: head, to: &output)
      output.append("Content-Length: 0\r\n\r\n")
      return true
    }
    try await ServerFixture.serve(handler, accessLog: sink) { server in
      try await server.withClient { client in
        _ = try client.request("GET", "/a?x=1", headers: [("Request-Id", "r1")])
        _ = try client.request("GET", "/fast", headers: [("Request-Id", "r2")])
        try client.send("nonsense\r\n")
        _ = try client.response()
      }
    }
    let notes = sink.notes.withLock { $0 }
    #expect(notes.map(\.status) == [201, 200, 400])
    #expect(notes.map(\.method) == [.get, .get, nil])
    #expect(notes.map(\.target) == ["/a?x=1", "/fast", ""])
    #expect(notes.map(\.requestID).prefix(2) == ["r1", "r2"])
    #expect(
      notes[1].bytes
        == "HTTP/1.1 200 OK\r\nRequest-Id: r2\r\nContent-Length: 0\r\n\r\n".utf8.count)
    #expect(notes[0].remoteHost == "127.0.0.1")
    // All entries were submitted before the server ended.
    #expect(sink.batches.withLock { $0.joined().elementsEqual("201\n200\n400\n".utf8) })
  }

  /// Content that goes out without being copied counts too.
  @Test(
    "The logged bytes cover the whole response",
    arguments: [1, 16 * 1024, 300_000])
  func bytesCoverTheWholeResponse(size: Int) async throws {
    let sink = Sink()
    let handler = ScriptedHandler { _ in .text(String(repeating: "x", count: size)) }
    try await ServerFixture.serve(handler, accessLog: sink) { server in
      try await server.withClient { client in _ = try client.request("GET", "/") }
    }
    let bytes = sink.notes.withLock { $0.map(\.bytes) }
    #expect(bytes.count == 1 && bytes[0] > size && bytes[0] < size + 500)
  }
}
