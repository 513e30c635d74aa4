import Transport

/// The process's output streams, written to in whole lines.
package enum StandardStreams {
  /// For what a command was asked for, and the one line that says the service is ready.
  package static func output(_ line: String) {
    StandardStream.output.write(Array((line + "\n").utf8))
  }

  /// For logs and complaints.
  package static func error(_ line: String) {
    StandardStream.error.write(Array((line + "\n").utf8))
  }

  /// Whole lines of log, their line breaks included.
  package static func error(_ lines: [UInt8]) {
    StandardStream.error.write(lines)
  }
}
