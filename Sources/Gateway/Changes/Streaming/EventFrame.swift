package import Model

/// A source of server-sent events: one client's changes, or its live query.
///
/// It is opened, read and released by one task, the one that writes to the client.
package protocol EventSource {
  /// Waits for the next bytes to write; nil when the stream ends.
  func next() async throws(Failure) -> [UInt8]?
}

/// A source that is asked in two steps, so that what it sends is rendered when there is room for it.
protocol StagedSource: EventSource {
  /// Waits until there is something to send; false when the stream ends.
  func ready() async throws(Failure) -> Bool

  /// Returns what there is to send at this moment; nil if that is nothing.
  func take() throws(Failure) -> [UInt8]?
}

/// The encoding of server-sent events (HTML, section 9.2).
package enum EventFrame {
  /// A comment, sent as a heartbeat.
  package static let comment = Array(":\n\n".utf8)

  /// Appends one event.
  ///
  /// - Parameters:
  ///   - id: the `Last-Event-ID` that the client sends when it reconnects; nil keeps the last one.
  ///   - event: the event's name; nil for the default, `message`.
  ///   - data: split at its line ends into `data` lines, which the client joins again. Line ends in
  ///     JSON are between tokens, so their kind does not matter.
  package static func append(
    id: String?, event: String?, data: [UInt8], to output: inout [UInt8]
  ) {
    output.reserveCapacity(output.count + data.count + 192)
    if let id {
      output += "id: ".utf8
      output += id.utf8
      output.append(newline)
    }
    if let event {
      output += "event: ".utf8
      output += event.utf8
      output.append(newline)
    }
    if data.contains(where: { $0 == newline || $0 == UInt8(ascii: "\r") }) {
      for line in data.split(whereSeparator: { $0 == newline || $0 == UInt8(ascii: "\r") }) {
        appendLine(line, to: &output)
      }
    } else {
      appendLine(data[...], to: &output)
    }
    output.append(newline)
  }

  /// One event as ``append(id:event:data:to:)`` wrote it.
  struct Event: Equatable {
    var id: String?
    var event: String?
    var data: [UInt8] = []
  }

  /// Returns the events of frames that ``append(id:event:data:to:)`` wrote, without comments.
  static func events(in frames: [UInt8]) -> [Event] {
    var events: [Event] = []
    var event = Event()
    var isFilled = false
    for line in frames.split(separator: newline, omittingEmptySubsequences: false) {
      guard !line.isEmpty else {
        if isFilled { events.append(event) }
        event = Event()
        isFilled = false
        continue
      }
      if let value = value(of: line, "data: ") {
        if !event.data.isEmpty { event.data.append(newline) }
        event.data += value
      } else if let value = value(of: line, "id: ") {
        event.id = String(decoding: value, as: UTF8.self)
      } else if let value = value(of: line, "event: ") {
        event.event = String(decoding: value, as: UTF8.self)
      } else {
        continue
      }
      isFilled = true
    }
    return events
  }

  private static func value(of line: ArraySlice<UInt8>, _ field: StaticString) -> ArraySlice<UInt8>?
  {
    field.withUTF8Buffer { line.starts(with: $0) } ? line.dropFirst(field.utf8CodeUnitCount) : nil
  }

  private static func appendLine(_ line: ArraySlice<UInt8>, to output: inout [UInt8]) {
    output += "data: ".utf8
    output += line
    output.append(newline)
  }

  private static let newline = UInt8(ascii: "\n")
}
