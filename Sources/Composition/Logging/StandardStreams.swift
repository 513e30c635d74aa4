import Transport

/// The process's output streams, written to in whole lines.
package enum StandardStreams {
  /// For what a command was asked for.
  package static func output(_ line: String) {
    StandardStream.output.write(Array((line + "\n").utf8))
  }

  /// For the lines that say the service is ready: it does not wait long for a reader who reads
  /// nothing.
  package static func announce(_ line: String) {
    StandardStream.output.write(Array((line + "\n").utf8), patience: .seconds(1))
  }

  /// Makes the process's streams safe to write to. Called first of all.
  package static func prepare() {
    StandardStream.openMissing()
    ProcessEnd.ignoreUnusedSignals()
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
