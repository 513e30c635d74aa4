package import Model

/// A source of server-sent events: one client's changes, or its live query.
///
/// It is opened, read and released by one task, the one that writes to the client.
package protocol EventSource {
  /// Waits for the next bytes to write; nil when the stream ends.
  func next() async throws(Failure) -> [UInt8]?
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

  private static func appendLine(_ line: ArraySlice<UInt8>, to output: inout [UInt8]) {
    output += "data: ".utf8
    output += line
    output.append(newline)
  }

  private static let newline = UInt8(ascii: "\n")
}
