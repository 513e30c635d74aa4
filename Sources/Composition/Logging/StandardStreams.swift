import Transport

/// The process's output streams, written in whole lines.
package enum StandardStreams {
  /// Writes the output of a command.
  package static func output(_ line: String) {
    StandardStream.output.write(Array((line + "\n").utf8))
  }

  /// Writes a line that announces the service, without waiting more than a second for a reader.
  static func announce(_ line: String) {
    StandardStream.output.write(Array((line + "\n").utf8), patience: .seconds(1))
  }

  /// Makes the process's streams safe to write to. Must be called before anything else.
  package static func prepare() {
    StandardStream.openMissing()
    ProcessEnd.ignoreUnusedSignals()
  }

  /// Writes a log line or error message.
  package static func error(_ line: String) {
    StandardStream.error.write(Array((line + "\n").utf8))
  }

  /// Writes whole log lines, including their line breaks.
  package static func error(_ lines: [UInt8]) {
    StandardStream.error.write(lines)
  }
}
