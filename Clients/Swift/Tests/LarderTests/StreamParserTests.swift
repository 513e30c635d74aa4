import Foundation
import Testing

@testable import Larder

struct StreamParserTests {
  @Test("Events are the same however the stream is cut", arguments: ["\n", "\r\n", "\r"])
  func readsAnyCut(lineEnd: String) throws {
    let lines = [
      "id: c1", "event: change", "data: {\"a\":", "data: 1}", "", ": heartbeat", "", "data:é", "",
      "id: c2", "",
    ]
    let text = Array((lines.joined(separator: lineEnd) + lineEnd).utf8)
    let expected = [
      ServerSentEvent(name: "change", data: "{\"a\":\n1}", id: "c1"),
      ServerSentEvent(name: "message", data: "é", id: nil),
    ]
    for cut in 0...text.count {
      var parser = EventStreamParser()
      let events = try parser.take(text[..<cut]) + parser.take(text[cut...])
      #expect(events == expected, "cut at \(cut)")
    }
  }

  @Test("An event without an end is an error, and heartbeats do not count")
  func refusesEndlessEvents() throws {
    let piece = [UInt8](repeating: 0x78, count: 1 << 20)
    var parser = EventStreamParser()
    #expect {
      for _ in 0...16 { _ = try parser.take(piece) }
    } throws: {
      ($0 as? LarderError)?.code == "offline"
    }
    var lines = EventStreamParser()
    #expect {
      for _ in 0...16 { _ = try lines.take(Array("data: ".utf8) + piece + [0x0A]) }
    } throws: {
      ($0 as? LarderError)?.code == "offline"
    }
    var beats = EventStreamParser()
    for _ in 0...16 { _ = try beats.take(Array(": ".utf8) + piece + [0x0A, 0x0A]) }
    #expect(try beats.take(Array("data: 1\n\n".utf8)).map(\.data) == ["1"])
  }

  #if canImport(Glibc)
    private static let responses: [(text: String, body: String)] = [
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello", "hello"),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        "hello"
      ),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}", "{}"),
      ("HTTP/1.1 204 No Content\r\n\r\n", ""),
    ]

    @Test("Only CR and LF end a field, and a chunk's size has a limit")
    func readsFields() throws {
      var parser = HTTPResponseParser(isHead: false)
      let head = "HTTP/1.1 200 OK\r\nA: x\u{85}y\u{2028}z\r\nB:\u{301}\r\nContent-Length: 0\r\n\r\n"
      let events = try parser.take(Array(head.utf8))
      #expect(
        events.first
          == .head(
            status: 200,
            headers: ["a": "x\u{85}y\u{2028}z", "b": "\u{301}", "content-length": "0"]))
      var endless = HTTPResponseParser(isHead: false)
      _ = try endless.take(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;".utf8))
      #expect(throws: HTTPResponseParser.Fault.self) {
        for _ in 0..<100 { _ = try endless.take([UInt8](repeating: 0x78, count: 1_000)) }
      }
    }

    @Test("A response is the same however it is cut, and whole only at its end")
    func readsResponses() throws {
      for response in Self.responses {
        let text = Array(response.text.utf8)
        for cut in 0...text.count {
          var parser = HTTPResponseParser(isHead: false)
          var events = try parser.take(text[..<cut])
          if cut < text.count {
            #expect(throws: HTTPResponseParser.Fault.self) { try parser.finish() }
          }
          events += try parser.take(text[cut...])
          var body = Data()
          for case .body(let piece) in events { body += piece }
          #expect(body == Data(response.body.utf8))
          #expect(events.last == .end)
        }
      }
    }

    @Test(
      "What is no response is refused",
      arguments: [
        "HTTP/2 200\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      ])
    func refusesOthers(_ text: String) {
      var parser = HTTPResponseParser(isHead: false)
      #expect(throws: HTTPResponseParser.Fault.self) { try parser.take(Array(text.utf8)) }
    }
  #endif
}
