import HTTPWire
import Transport

/// An access log of text or JSON lines, in the format of the process's other log lines.
package struct LineAccessLog: AccessLog {
  private let isJSON: Bool
  /// The bytes between a line's time and its first value.
  private let preamble: [UInt8]
  private let isWanted: @Sendable () -> Bool
  /// How long shutdown waits for lines to be written.
  private static let flushMax = Duration.seconds(1)

  private let sink: LineSink

  /// - Parameters:
  ///   - label: the logger's name in each line.
  ///   - isOn: called for each request; false omits it.
  ///   - write: writes whole lines; may block.
  package init(
    label: String, isJSON: Bool, isOn: @escaping @Sendable () -> Bool = { true },
    write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.init(label: label, isJSON: isJSON, isOn: isOn, sink: LineSink(write: write))
  }

  /// - Parameter sink: writes the lines, together with others of the process.
  package init(
    label: String, isJSON: Bool, isOn: @escaping @Sendable () -> Bool = { true }, sink: LineSink
  ) {
    self.isJSON = isJSON
    isWanted = isOn
    let text =
      isJSON
      ? #"","level":"info","logger":"\#(label)","message":"request","method":""#
      : " info \(label): request method="
    preamble = Array(text.utf8)
    self.sink = sink
  }

  package var isOn: Bool { isWanted() }

  package func append(_ entry: borrowing AccessLogEntry, to notes: inout [UInt8]) {
    if isJSON { notes.append(#"{"time":""#) }
    entry.date.appendTimestamp(to: &notes)
    notes.append(contentsOf: preamble)
    if let method = entry.method {
      notes.append(contentsOf: method.name.utf8)
    } else {
      notes.append("-")
    }
    notes.append(isJSON ? #"","target":""# : " target=")
    appendTarget(entry.target, to: &notes)
    notes.append(isJSON ? #"","status":"# : " status=")
    notes.append(decimal: entry.status)
    notes.append(isJSON ? #","bytes":"# : " bytes=")
    notes.append(decimal: entry.bytes)
    notes.append(isJSON ? #","duration_us":"# : " duration_us=")
    notes.append(decimal: Self.microseconds(entry.duration))
    notes.append(isJSON ? #","request_id":""# : " request_id=")
    notes.append(contentsOf: entry.requestID)
    notes.append(isJSON ? #"","remote":""# : " remote=")
    Self.append(entry.remoteAddress, to: &notes)
    notes.append(isJSON ? "\"}\n" : "\n")
  }

  package func take(_ notes: [UInt8]) {
    sink.take(notes)
  }

  package func finish() async {
    await sink.finish(within: Self.flushMax)
  }

  /// Appends a target. Of the bytes it can contain, only quote and backslash need escapes in a quoted
  /// string.
  private func appendTarget(_ target: ArraySlice<UInt8>, to notes: inout [UInt8]) {
    if target.isEmpty { return notes.append("-") }
    let isSpecial = { (byte: UInt8) in byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
    guard target.contains(where: isSpecial) else {
      return LoggedTarget.append(target, to: &notes)
    }
    var shown: [UInt8] = []
    LoggedTarget.append(target, to: &shown)
    if !isJSON { notes.append("\"") }
    for byte in shown {
      if isSpecial(byte) { notes.append(UInt8(ascii: "\\")) }
      notes.append(byte)
    }
    if !isJSON { notes.append("\"") }
  }

  private static func append(_ address: SocketAddress, to notes: inout [UInt8]) {
    guard case .ipv4(let octets, _) = address else {
      notes.append(contentsOf: address.host.utf8)
      return
    }
    for place in 0..<4 {
      if place > 0 { notes.append(".") }
      notes.append(decimal: Int(octets >> UInt32(24 - 8 * place) & 255))
    }
  }

  private static func microseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }
}
