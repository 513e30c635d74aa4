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
    HTTPDate.appendTimestamp(milliseconds: entry.time, to: &notes)
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
    notes.append(decimal: Int(entry.nanoseconds / 1_000))
    notes.append(isJSON ? #","request_id":""# : " request_id=")
    notes.append(contentsOf: entry.requestID)
    notes.append(isJSON ? #"","remote":""# : " remote=")
    Self.append(entry.remoteAddress, to: &notes)
    if isJSON { notes.append("\"") }
    append(entry.facts, to: &notes)
    append(isJSON ? #","trace_id":""# : " trace_id=", plain: entry.traceID, to: &notes)
    if !entry.userAgent.isEmpty {
      notes.append(isJSON ? #","user_agent":""# : #" user_agent=""#)
      Self.append(quoted: entry.userAgent.prefix(Self.userAgentBytesMax), to: &notes)
      notes.append("\"")
    }
    notes.append(isJSON ? "}\n" : "\n")
  }

  /// A longer name of a client program is cut.
  private static let userAgentBytesMax = 200

  private func append(_ facts: LoggedFacts, to notes: inout [UInt8]) {
    if let operation = facts.operation {
      append(isJSON ? #","operation":""# : " operation=", plain: operation.utf8, to: &notes)
    }
    if let use = facts.cacheUse {
      append(isJSON ? #","cache":""# : " cache=", plain: use.name.utf8, to: &notes)
    }
    if let nanoseconds = facts.upstreamNanoseconds {
      notes.append(isJSON ? #","upstream_us":"# : " upstream_us=")
      notes.append(decimal: Int(nanoseconds / 1_000))
    }
    if let user = facts.caller?.user {
      append(isJSON ? #","user":""# : " user=", id: user, to: &notes)
    }
    if let device = facts.caller?.device {
      append(isJSON ? #","device":""# : " device=", id: device, to: &notes)
    }
  }

  /// Appends a name and a value without special bytes; nothing for an empty value.
  private func append(
    _ name: StaticString, plain value: some Collection<UInt8>, to notes: inout [UInt8]
  ) {
    if value.isEmpty { return }
    notes.append(name)
    notes.append(contentsOf: value)
    if isJSON { notes.append("\"") }
  }

  /// Appends a name and an id, which an account provider can have chosen freely.
  private func append(_ name: StaticString, id: String, to notes: inout [UInt8]) {
    notes.append(name)
    let isPlain = id.utf8.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    if !isJSON, !isPlain { notes.append("\"") }
    Self.append(quoted: id.utf8, to: &notes)
    if isJSON || !isPlain { notes.append("\"") }
  }

  /// Appends bytes for a quoted string: printable ASCII as it is, all else as `\u00..` by byte.
  private static func append(quoted bytes: some Sequence<UInt8>, to notes: inout [UInt8]) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        notes.append(UInt8(ascii: "\\"))
        notes.append(byte)
      case 0x20...0x7E:
        notes.append(byte)
      default:
        notes.append("\\u00")
        notes.append(hexDigit(byte >> 4))
        notes.append(hexDigit(byte & 15))
      }
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
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
}
