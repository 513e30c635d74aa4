import Glibc

/// Reads a pipe line by line, with a deadline.
struct LineReader {
  let descriptor: Int32

  /// - Returns: the first line without its end; nil if the pipe ends or the time is over before.
  func firstLine(withinSeconds seconds: Int) -> String? {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var line: [UInt8] = []
    while true {
      let left = deadline - ContinuousClock.now
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > .zero, poll(&waiting, 1, Int32(left / .milliseconds(1))) > 0 else { return nil }
      var byte: UInt8 = 0
      guard read(descriptor, &byte, 1) == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }
}
