import Glibc

/// A witness that reports to another program how Larder parses inputs, for comparison.
///
/// Inputs come on standard input, each after its length in four bytes, most significant first; the results go
/// to standard output in the same form.
enum Witness: String {
  /// Reports where each request of the stream ends, and the request.
  case requestBoundaries = "request-boundaries"
  /// Reports an empty text, or the text as Larder writes it.
  case jsonReading = "json-reading"

  func testify() {
    while let input = Self.readFrame() {
      switch self {
      case .requestBoundaries: Self.write(RequestBoundaries.describe(input))
      case .jsonReading: Self.write(JSONReading.rewrite(input))
      }
    }
  }

  private static func readFrame() -> [UInt8]? {
    guard let head = read(4) else { return nil }
    return read(head.reduce(0) { $0 << 8 | Int($1) })
  }

  private static func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let taken = bytes.withUnsafeMutableBytes {
        Glibc.read(STDIN_FILENO, $0.baseAddress?.advanced(by: filled), count - filled)
      }
      guard taken > 0 else { return nil }
      filled += taken
    }
    return bytes
  }

  private static func write(_ bytes: [UInt8]) {
    let head = (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) }
    var rest = (head + bytes)[...]
    while !rest.isEmpty {
      let taken = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard taken > 0 else { return }
      rest = rest.dropFirst(taken)
    }
  }
}
