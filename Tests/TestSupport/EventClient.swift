/// A blocking client of server-sent events.
///
/// Used by one task at a time, through ``onOwnThread(_:)``.
// SAFETY: its methods run one after the other, each awaited by the one task that holds it.
package final class EventClient: @unchecked Sendable {
  package struct Event: Sendable, Equatable {
    package var id: String?
    package var event: String?
    package var data = ""
    /// Whether the frame is only a comment.
    package var isComment = false
    /// Whether `id` was the frame's first line.
    package var beginsWithID = false
  }

  package private(set) var status = 0
  package private(set) var contentType: String?
  /// The header fields, names in lower case.
  package private(set) var fields: [String: String] = [:]
  private let client: RawClient
  /// Bytes of the response that have not been parsed.
  private var raw: [UInt8] = []
  /// The content without its chunk framing.
  private var text: [UInt8] = []
  private var hasEnded = false

  private init(_ client: RawClient) {
    self.client = client
  }

  /// - Parameter body: sent as JSON with `POST`; nil for `GET`.
  package static func open(
    port: Int, _ target: String, headers: [(String, String)] = [], body: String? = nil,
    timeoutSeconds: Int = 10
  ) async throws -> EventClient {
    try await onOwnThread {
      let events = EventClient(try RawClient(port: port, timeoutSeconds: timeoutSeconds))
      var head = "\(body == nil ? "GET" : "POST") \(target) HTTP/1.1\r\nHost: localhost\r\n"
      for (name, value) in headers { head += "\(name): \(value)\r\n" }
      if let body {
        head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
      }
      try events.client.send(head + "\r\n" + (body ?? ""))
      try events.readHead()
      return events
    }
  }

  /// The next frame; nil at the stream's proper end.
  package func next() async throws -> Event? {
    try await onOwnThread { try self.readEvent() }
  }

  /// The next frame that is not a comment.
  package func nextEvent() async throws -> Event? {
    while let event = try await next() {
      if !event.isComment { return event }
    }
    return nil
  }

  /// Whether no unread data has arrived; does not wait.
  package var isQuiet: Bool { text.isEmpty && raw.isEmpty && !hasEnded && client.isQuiet() }

  private func readHead() throws {
    while true {
      if let end = raw.firstRange(of: Array("\r\n\r\n".utf8)) {
        let lines = String(decoding: raw[..<end.lowerBound], as: UTF8.self).split(
          separator: "\r\n")
        raw.removeFirst(end.upperBound)
        status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          guard parts.count == 2 else { continue }
          fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        contentType = fields["content-type"]
        return
      }
      raw += try client.readSome()
    }
  }

  private func readEvent() throws -> Event? {
    while true {
      if let end = text.firstRange(of: [10, 10]) {
        let frame = String(decoding: text[..<end.lowerBound], as: UTF8.self)
        text.removeFirst(end.upperBound)
        return Self.event(frame)
      }
      if hasEnded { return nil }
      while !takeChunk() { raw += try client.readSome() }
    }
  }

  /// Moves one whole chunk from the raw bytes to the content; false if it is incomplete.
  private func takeChunk() -> Bool {
    guard let line = raw.firstRange(of: [13, 10]),
      let size = Int(String(decoding: raw[..<line.lowerBound], as: UTF8.self), radix: 16),
      raw.count >= line.upperBound + size + 2
    else { return false }
    text += raw[line.upperBound..<(line.upperBound + size)]
    raw.removeFirst(line.upperBound + size + 2)
    hasEnded = size == 0
    return true
  }

  private static func event(_ frame: String) -> Event {
    var event = Event()
    let lines = frame.split(separator: "\n", omittingEmptySubsequences: false)
    event.isComment = lines.allSatisfy { $0.hasPrefix(":") }
    event.beginsWithID = lines.first?.hasPrefix("id:") ?? false
    for line in lines {
      if line.hasPrefix("id:") { event.id = value(of: line) }
      if line.hasPrefix("event:") { event.event = value(of: line) }
      if line.hasPrefix("data:") { event.data += value(of: line) }
    }
    return event
  }

  private static func value(of line: Substring) -> String {
    guard let colon = line.firstIndex(of: ":") else { return "" }
    let value = line[line.index(after: colon)...]
    return String(value.first == " " ? value.dropFirst() : value)
  }
}
