/// A blocking WebSocket client for tests: it sends exactly the given bytes, and reads frames as they are.
///
/// It shares no code with the modules under test. Every wait has a deadline, that of its ``RawClient``.
package final class RawWebSocket {
  /// A frame as received from a server.
  package struct Frame: Equatable, Sendable {
    package var opcode: UInt8
    package var payload: [UInt8]
    package var isFinal = true
    /// RSV1 to RSV3 as a number: 4 is RSV1.
    package var reserved: UInt8 = 0

    package init(opcode: UInt8, payload: [UInt8]) {
      self.opcode = opcode
      self.payload = payload
    }

    package var text: String { String(decoding: payload, as: UTF8.self) }

    /// The code of a close frame; nil for another frame, or without a code.
    package var closeCode: Int? {
      opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
    }

    package static func text(_ text: String) -> Frame {
      Frame(opcode: 1, payload: Array(text.utf8))
    }
  }

  /// The key of RFC 6455's example, whose answer is known.
  package static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  package static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

  private let client: RawClient
  private var buffer: [UInt8] = []
  /// The head of the 101 response, field names in lower case.
  package private(set) var headers: [(String, String)] = []

  /// - Parameter early: bytes that are sent in one piece with the request.
  package init(
    port: Int, _ target: String = "/", headers: [(String, String)] = [], early: [UInt8] = [],
    timeoutSeconds: Int = 10
  ) throws {
    client = try RawClient(port: port, timeoutSeconds: timeoutSeconds)
    var head = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    head += "Connection: Upgrade\r\nSec-WebSocket-Key: \(Self.key)\r\nSec-WebSocket-Version: 13\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    try client.send(Array((head + "\r\n").utf8) + early)
    try readHead()
  }

  /// The value of the first field of the response with a name.
  package subscript(name: String) -> String? {
    headers.first { $0.0 == name.lowercased() }?.1
  }

  package func send(_ bytes: [UInt8]) throws { try client.send(bytes) }
  package func send(_ frame: RawFrame) throws { try client.send(frame.bytes) }

  /// Returns the next frame.
  package func frame() throws -> Frame {
    let head = try take(2)
    var length = Int(head[1] & 0x7F)
    if length >= 126 {
      length = try take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
    }
    guard head[1] & 0x80 == 0 else { throw RawClient.Problem.malformed("a masked frame") }
    var frame = Frame(opcode: head[0] & 0x0F, payload: try take(length))
    frame.isFinal = head[0] & 0x80 != 0
    frame.reserved = head[0] >> 4 & 7
    return frame
  }

  /// Returns the next frame that is neither ping nor pong.
  package func dataFrame() throws -> Frame {
    while true {
      let frame = try frame()
      if frame.opcode < 9 { return frame }
    }
  }

  /// Whether the server has ended the connection; waits for it.
  package func isClosedByPeer() -> Bool {
    guard buffer.isEmpty else { return false }
    return client.isClosedByPeer()
  }

  /// Whether no unread bytes have arrived; does not wait.
  package var isQuiet: Bool { buffer.isEmpty && client.isQuiet() }

  private func readHead() throws {
    let end: [UInt8] = [13, 10, 13, 10]
    while buffer.firstRange(of: end) == nil { buffer += try client.readSome() }
    guard let place = buffer.firstRange(of: end) else { return }
    let text = String(decoding: buffer[..<place.lowerBound], as: UTF8.self)
    buffer.removeFirst(place.upperBound)
    let lines = text.split(separator: "\r\n")
    headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (
        parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
      )
    }
    guard lines.first?.hasPrefix("HTTP/1.1 101 ") == true,
      self["sec-websocket-accept"] == Self.accept
    else { throw RawClient.Problem.malformed(text) }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while buffer.count < count { buffer += try client.readSome() }
    let taken = Array(buffer.prefix(count))
    buffer.removeFirst(count)
    return taken
  }
}
