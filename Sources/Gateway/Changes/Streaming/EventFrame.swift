/// Server-sent events as bytes (HTML, section 9.2).
package enum EventFrame {
  /// Says nothing and keeps the connection known to be alive.
  package static let comment = Array(":\n\n".utf8)

  /// - Parameters:
  ///   - id: what the client sends as `Last-Event-ID` when it comes back; nil leaves the last one.
  ///   - event: nil for the default, `message`.
  ///   - data: its line ends split it into lines of `data`, which the client joins again. One inside
  ///     JSON stands between tokens, so its kind does not matter.
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
