/// An event of a stream of type text/event-stream.
struct ServerSentEvent: Hashable, Sendable {
  var name = "message"
  var data = ""
  var id: String?
}

/// Reads text/event-stream from pieces that are cut anywhere.
struct EventStreamParser {
  /// A longer event ends the stream.
  static let eventBytesMax = 16 << 20

  private var line: [UInt8] = []
  private var wasReturn = false
  private var event = ServerSentEvent()
  private var lines: [String] = []

  /// The bytes of the event's lines so far.
  private var bytes = 0

  /// The events that a piece completes.
  ///
  /// - Throws: `LarderError.offline` for an event that is too long.
  mutating func take(_ piece: some Sequence<UInt8>) throws -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in piece {
      defer { wasReturn = byte == 0x0D }
      switch byte {
      case 0x0A where wasReturn: continue
      case 0x0A, 0x0D:
        if let event = endLine() { events.append(event) }
      default:
        line.append(byte)
        bytes += 1
        guard bytes <= Self.eventBytesMax else {
          throw LarderError.offline("An event of the stream is too long.", wasSent: true)
        }
      }
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    let text = String(decoding: line, as: UTF8.self)
    line.removeAll(keepingCapacity: true)
    guard !text.isEmpty else { return endEvent() }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var value = parts.count > 1 ? parts[1] : ""
    if value.first == " " { value.removeFirst() }
    switch parts[0] {
    case "event": event.name = String(value)
    case "data": lines.append(String(value))
    case "id": event.id = String(value)
    default: break
    }
    return nil
  }

  private mutating func endEvent() -> ServerSentEvent? {
    defer { (event, lines, bytes) = (ServerSentEvent(), [], 0) }
    guard !lines.isEmpty else { return nil }
    var whole = event
    whole.data = lines.joined(separator: "\n")
    return whole
  }
}
