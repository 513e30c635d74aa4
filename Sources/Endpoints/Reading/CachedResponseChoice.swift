import Gateway
import HTTPServer
import HTTPWire
import Model

/// What of a shelved answer one request is given: a representation, whole or as a 304.
struct CachedResponseChoice {
  private let representation: CachedRepresentation
  private let isUnchanged: Bool
  private let hasBody: Bool

  @inline(__always)
  init(_ entry: CachedResponse, to head: borrowing RequestHead) {
    representation = Self.representation(of: entry, for: head)
    isUnchanged = Self.holds(representation.entityTag, head["if-none-match"])
    hasBody = !isUnchanged && head.method == .get
  }

  /// Writes the status line and the date; the request id is next.
  @inline(__always)
  func begin(stamp: ResponseStamp, into output: inout [UInt8]) {
    output.append(isUnchanged ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n")
    stamp.appendDate(to: &output)
  }

  /// Writes what follows the request id.
  @inline(__always)
  func end(at moment: borrowing CachedResponseMoment, into output: inout [UInt8]) {
    output.append(bytes: isUnchanged ? representation.notModifiedFields : representation.fields)
    output.append(decimal: moment.ageSeconds)
    output.append("\r\nCache-Status: larder; hit; ttl=")
    output.append(decimal: moment.ttlSeconds)
    output.append("\r\nSync-Cursor: ")
    output.append(bytes: moment.cursor)
    output.append("\r\n\r\n")
    if hasBody { output.append(bytes: representation.body) }
  }

  private static func representation(
    of entry: CachedResponse, for head: borrowing RequestHead
  ) -> CachedRepresentation {
    guard let gzip = entry.gzip, let accepted = head["accept-encoding"],
      AcceptEncoding(accepted).preferred == .gzip
    else { return entry.identity }
    return gzip
  }

  /// Whether the request holds what has this tag already. The one tag that nearly every client
  /// sends is compared as bytes; a list takes the long way.
  ///
  /// - Parameter entityTag: quotes included.
  static func holds(_ entityTag: [UInt8], _ condition: ArraySlice<UInt8>?) -> Bool {
    guard let condition else { return false }
    if condition.equals(entityTag) { return true }
    let current = EntityTag(parsing: String(decoding: entityTag, as: UTF8.self))
    return EntityTagList(condition)?.weaklyContains(current) ?? false
  }
}
