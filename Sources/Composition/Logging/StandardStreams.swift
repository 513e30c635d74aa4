import Foundation

/// The process's output streams, written to in whole lines.
package enum StandardStreams {
  /// For what a command was asked for, and the one line that says the service is ready.
  package static func output(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// For logs and complaints.
  package static func error(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }

  /// Whole lines of log, their line breaks included.
  package static func error(_ lines: [UInt8]) {
    FileHandle.standardError.write(Data(lines))
  }
}
