/// Finds the lines of a head in bytes that arrive in pieces.
///
/// It remembers how far it has scanned, so that each byte is scanned once, and the outcome does not
/// depend on how the bytes were split.
struct LineScanner: Sendable {
  enum Outcome {
    /// A line without its CRLF.
    case line(Range<Int>)
    case needMore
    case tooLong
    /// The line ends in a line feed alone, which no recipient must accept (RFC 9112 2.2).
    case bareLineFeed
  }

  /// Where the next line starts.
  private(set) var position = 0
  private var scanned = 0

  /// Returns the next line of at most `bytesMax` bytes, or the reason there is none.
  mutating func next(in bytes: UnsafeRawBufferPointer, bytesMax: Int) -> Outcome {
    guard let end = ByteScan.lineFeed(in: bytes, from: max(scanned, position)) else {
      scanned = bytes.count
      let endsInReturn = bytes.count > position && bytes[bytes.count - 1] == ASCII.carriageReturn
      return bytes.count - position - (endsInReturn ? 1 : 0) > bytesMax ? .tooLong : .needMore
    }
    let hasReturn = end > position && bytes[end - 1] == ASCII.carriageReturn
    let line = position..<(hasReturn ? end - 1 : end)
    if line.count > bytesMax { return .tooLong }
    guard hasReturn else { return .bareLineFeed }
    position = end + 1
    scanned = position
    return .line(line)
  }

  /// Whether no byte of the next line has been scanned.
  var isAtLineStart: Bool { scanned <= position }

  /// Skips a line that its caller has read.
  ///
  /// - Parameter end: where its CRLF starts.
  @inline(__always)
  mutating func skip(lineEndingAt end: Int) {
    position = end &+ 2
    scanned = position
  }

  mutating func reset() {
    position = 0
    scanned = 0
  }
}
