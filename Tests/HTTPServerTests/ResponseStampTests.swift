import HTTPWire
import Testing

@testable import HTTPServer

struct ResponseStampTests {
  private static func head(_ fields: String) throws -> RequestHead {
    var parser = RequestParser()
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
    let end = try bytes.withUnsafeBytes { try parser.parse($0) }
    #expect(end == bytes.count)
    return parser.head
  }

  @Test(
    "A head written at once is the same as one written in parts",
    arguments: [
      "", "Request-Id: of-the-client.1\r\n", "Request-Id: not valid\r\n", "X-Id: 7\r\n",
      "X-Request-Id: of-a-proxy\r\n",
    ],
    [false, true])
  func headAtOnceIsTheSame(fields: String, hasRate: Bool) throws {
    let head = try Self.head(fields)
    let stamps = (0..<2).map { _ in
      ResponseStamp(seed: 42, strictTransportAge: hasRate ? .seconds(60) : nil)
    }
    for stamp in stamps {
      stamp.setTime(secondsSince1970: 784_111_777)
      if hasRate {
        stamp.rate = RateVerdict(
          isAllowed: true, requestsMax: 10, windowSeconds: 60, remaining: 9, resetSeconds: 60)
      }
    }
    for output in [[], Array("HTTP/1.1 200 OK\r\n\r\nearlier".utf8)] {
      var (whole, parts) = (output, output)
      stamps[0].appendHead("HTTP/1.1 304 Not Modified\r\n", for: head, to: &whole)
      parts.append("HTTP/1.1 304 Not Modified\r\n")
      stamps[1].appendDate(to: &parts)
      stamps[1].appendRequestID(for: head, to: &parts)
      #expect(whole == parts)
      #expect(stamps[0].lastRequestIDRange == stamps[1].lastRequestIDRange)
      #expect(!stamps[0].lastRequestIDRange.isEmpty)
      #expect(whole.starts(with: output) && whole.suffix(2) == [0x0D, 0x0A])
    }
  }

  @Test(
    "The id of a request is Request-Id, or else X-Request-Id, if that is valid",
    arguments: [
      ("Request-Id: a\r\nX-Request-Id: b\r\n", "a"), ("X-Request-Id: b\r\n", "b"),
      ("Request-Id: not valid\r\nX-Request-Id: b\r\n", "b"),
    ])
  func requestIDs(fields: String, id: String) throws {
    let head = try Self.head(fields)
    #expect(ResponseStamp(seed: 1).requestID(for: head) == id)
    var output: [UInt8] = []
    ResponseStamp(seed: 1).appendHead("HTTP/1.1 200 OK\r\n", for: head, to: &output)
    #expect(String(decoding: output, as: UTF8.self).contains("Request-Id: \(id)\r\n"))
  }

  @Test("Without a valid id of the client one is made")
  func madeRequestIDs() throws {
    let long = String(repeating: "a", count: 65)
    for fields in ["", "X-Request-Id: a b\r\n", "X-Request-Id: \(long)\r\n"] {
      #expect(ResponseStamp(seed: 1).requestID(for: try Self.head(fields)).utf8.count == 16)
    }
  }
}
