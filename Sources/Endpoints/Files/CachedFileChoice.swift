import Gateway
import HTTPServer
import HTTPWire

/// What of a shelved object one request is given: the whole, its head, or a 304.
struct CachedFileChoice {
  private let entry: CachedFile
  private let isUnchanged: Bool
  private let hasBody: Bool

  init(_ entry: CachedFile, to head: borrowing RequestHead) {
    self.entry = entry
    isUnchanged = CachedResponseChoice.holds(entry.entityTag, head["if-none-match"])
    hasBody = !isUnchanged && head.method == .get
  }

  /// Writes the status line and the date; the request id is next.
  func begin(stamp: ResponseStamp, into output: inout [UInt8]) {
    output.append(isUnchanged ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n")
    stamp.appendDate(to: &output)
  }

  /// Writes what follows the request id.
  func end(into output: inout [UInt8]) {
    output.append(contentsOf: isUnchanged ? entry.notModifiedFields : entry.fields)
    if hasBody { output.append(contentsOf: entry.file.content) }
  }
}
