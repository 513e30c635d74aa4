import Glibc

/// A standard stream of the process.
package enum StandardStream: Sendable {
  case output
  case error

  /// Bytes that a pipe with room accepts without blocking (POSIX, `_POSIX_PIPE_BUF` and Linux's
  /// `PIPE_BUF`).
  private static let pipeBytes = 4_096

  /// Opens `/dev/null` in place of each missing standard stream. Otherwise the next opened descriptor,
  /// such as a database, gets its number, and log lines are written into it. Call it before anything is
  /// opened.
  package static func openMissing() {
    while true {
      let descriptor = open("/dev/null", O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      guard descriptor <= STDERR_FILENO else {
        close(descriptor)
        return
      }
      // The standard streams outlive an exec.
      _ = fcntl(descriptor, F_SETFD, 0)
    }
  }

  /// Whether a person reads the stream at a terminal.
  package var isTerminal: Bool {
    isatty(self == .output ? STDOUT_FILENO : STDERR_FILENO) == 1
  }

  /// Writes all bytes. Bytes written to a closed stream are lost.
  ///
  /// - Parameter patience: how long to wait for a reader that reads nothing; nil waits forever.
  /// - Returns: whether all bytes were written.
  @discardableResult
  package func write(_ bytes: [UInt8], patience: Duration? = nil) -> Bool {
    let descriptor = self == .output ? STDOUT_FILENO : STDERR_FILENO
    let timeout = patience.map { Int32(clamping: $0.components.seconds * 1_000) } ?? -1
    var rest = bytes[...]
    while !rest.isEmpty {
      if patience != nil {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let found = poll(&room, 1, timeout)
        if found < 0, errno == EINTR { continue }
        guard found > 0 else { return false }
      }
      let next = patience == nil ? rest : rest.prefix(Self.pipeBytes)
      let count = next.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      switch (count, errno) {
      case (0..., _): rest = rest.dropFirst(count)
      case (_, EINTR): continue
      case (_, EAGAIN):
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&room, 1, timeout) != 0 else { return false }
      default: return false
      }
    }
    return true
  }
}
