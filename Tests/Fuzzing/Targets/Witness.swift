import Glibc
import HTTPWire
import LosslessJSON

/// A witness that reports to another program how Larder parses inputs, for comparison.
///
/// Inputs come on standard input, each after its length in four bytes, most significant first; the results go
/// to standard output in the same form.
enum Witness: String {
  /// Reports where each request of the stream ends, and the request.
  case requestBoundaries = "request-boundaries"
  /// Reports an empty text, or the text as Larder writes it.
  case jsonReading = "json-reading"

  func testify() {
    while let input = Self.readFrame() {
      switch self {
      case .requestBoundaries: Self.write(RequestBoundaries.describe(input))
      case .jsonReading: Self.write(JSONReading.rewrite(input))
      }
    }
  }

  private static func readFrame() -> [UInt8]? {
    guard let head = read(4) else { return nil }
    return read(head.reduce(0) { $0 << 8 | Int($1) })
  }

  private static func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let taken = bytes.withUnsafeMutableBytes {
        Glibc.read(STDIN_FILENO, $0.baseAddress?.advanced(by: filled), count - filled)
      }
      guard taken > 0 else { return nil }
      filled += taken
    }
    return bytes
  }

  private static func write(_ bytes: [UInt8]) {
    let head = (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) }
    var rest = (head + bytes)[...]
    while !rest.isEmpty {
      let taken = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard taken > 0 else { return }
      rest = rest.dropFirst(taken)
    }
  }
}

/// A request stream as Larder parses it: the requests, the end of each, and their content.
enum RequestBoundaries {
  /// Longer than any body in the streams.
  private static let bodyBytesMax = 1 << 20

  /// - Returns: a JSON object: `requests`, each with `method`, `target`, `end` (the offset after its last
  ///   byte) and `body` (hexadecimal digits); `refused`, a fault's name or null; `open`, the offset of a
  ///   request that has begun and not ended, or null.
  static func describe(_ stream: [UInt8]) -> [UInt8] {
    var connection = ServerConnection(limits: ServerConnectionLimits())
    var requests: [JSONValue] = []
    var body: [UInt8] = []
    var refused: RequestError?
    var isOpen = false
    stream.withUnsafeBytes { raw in
      var offset = 0
      reading: while true {
        switch connection.next(raw, from: &offset) {
        case .needMore, .pause, .close: break reading
        case .ignored: continue
        case .refuse(let error):
          refused = error
          break reading
        case .request:
          body = []
          isOpen = true
          guard connection.head.hasBody else { break }
          refused = connection.allowContent(bytesMax: bodyBytesMax)
          if refused != nil { break reading }
        case .content(let range):
          body += raw[range]
        case .endOfRequest: break
        }
        guard isOpen, !connection.awaitsContent else { continue }
        isOpen = false
        requests.append(describe(connection.head, end: offset, body: body))
        guard connection.responseIsReady(isStreamed: false) == .send,
          connection.responseEnded() == .nextRequest
        else { break reading }
      }
    }
    let answer: JSONValue = [
      "requests": .array(requests),
      "refused": refused.map { .string("\($0)") } ?? .null,
      "open": .bool(isOpen || connection.isInsideHead),
    ]
    return answer.bytes
  }

  private static func describe(_ head: RequestHead, end: Int, body: [UInt8]) -> JSONValue {
    [
      "method": .string(head.method.name),
      "target": .string(HeadText.string(head.target)),
      "end": .number(JSONNumber(end)),
      "body": .string(body.map { hexadecimal($0) }.joined()),
      "keeps": .bool(head.keepsAlive),
    ]
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
  }
}

/// A JSON text as Larder writes it after parsing.
enum JSONReading {
  /// - Returns: the text; empty for one that is refused.
  static func rewrite(_ bytes: [UInt8]) -> [UInt8] {
    (try? JSONValue(parsing: bytes))?.bytes ?? []
  }
}
