import Glibc

/// A stream that the process was started with.
package enum StandardStream: Sendable {
  case output
  case error

  /// Writes all of it, waiting for whoever reads. What a stream that is closed does not take is
  /// lost.
  package func write(_ bytes: [UInt8]) {
    let descriptor = self == .output ? STDOUT_FILENO : STDERR_FILENO
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      switch (count, errno) {
      case (0..., _): rest = rest.dropFirst(count)
      case (_, EINTR): continue
      case (_, EAGAIN):
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      default: return
      }
    }
  }
}
