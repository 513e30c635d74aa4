import Glibc

/// The process's output streams, written to in whole lines.
package enum StandardStreams {
  /// For what a command was asked for, and the one line that says the service is ready.
  package static func output(_ line: String) {
    write(Array((line + "\n").utf8), to: STDOUT_FILENO)
  }

  /// For logs and complaints.
  package static func error(_ line: String) {
    write(Array((line + "\n").utf8), to: STDERR_FILENO)
  }

  /// Whole lines of log, their line breaks included.
  package static func error(_ lines: [UInt8]) {
    write(lines, to: STDERR_FILENO)
  }

  /// Waits for whoever reads. What a stream that is closed does not take is lost.
  private static func write(_ bytes: [UInt8], to stream: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(stream, $0.baseAddress, $0.count) }
      switch (count, errno) {
      case (0..., _): rest = rest.dropFirst(count)
      case (_, EINTR): continue
      case (_, EAGAIN):
        var room = pollfd(fd: stream, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      default: return
      }
    }
  }
}
