import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import Synchronization

/// A cache of empty pages of changes, keyed by the bytes of their requests and served on the
/// connection's own event loop. Clients that poll get an empty page nearly every time.
///
/// A page that is empty at one head of the change log stays the same until the head moves. Pages are
/// cached only for callers identified by target and `Authorization` alone: a device can be revoked, so
/// its token is checked at each request.
final class DeltaResponseCache: Sendable {
  /// One page: its response after the fields that differ for each request.
  private final class Entry: ResponseCacheEntry {
    let key: PlainRequestKey
    let head: Revision
    /// The rest of the head, and the body.
    let bytes: [UInt8]

    var byteCount: Int { key.byteCount + bytes.count }

    init(key: PlainRequestKey, head: Revision, bytes: [UInt8]) {
      self.key = key
      self.head = head
      self.bytes = bytes
    }
  }

  /// Distinct (target, credential) pairs. Each target contains a cursor, so entries of earlier heads are
  /// not requested again and leave with their generation.
  private static let entriesMax = 10_000
  /// The bound on all entries: clients choose the length of their credentials.
  private static let bytesMax = 16 << 20

  private let cursors: CursorIssuer
  private let plain: PlainRequests
  /// Larger bodies are not cached, because clients can accept them compressed.
  private let compressionBytesMin: Int
  private let entries = Mutex(
    CacheGenerations<Entry>(countMax: entriesMax, bytesMax: bytesMax))

  init(cursors: CursorIssuer, plain: PlainRequests, compressionBytesMin: Int) {
    self.cursors = cursors
    self.plain = plain
    self.compressionBytesMin = compressionBytesMin
  }

  /// The head to store a page with. Record it before the page is read.
  var head: Revision { cursors.head }

  /// Stores the response to a request whose page was empty and the last.
  ///
  /// - Parameter head: recorded before the page was read.
  func keep(_ body: [UInt8], for request: ServerRequest, at head: Revision) {
    guard body.count < compressionBytesMin, let key = plain.key(of: request.head) else { return }
    let entry = Entry(key: key, head: head, bytes: Self.bytes(body))
    entries.withLock { $0.keep(entry) }
  }

  /// Writes the cached response to a request, if the log has not changed since.
  ///
  /// - Returns: false, with nothing written, if there is none.
  func writeResponse(
    to head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    guard plain.contains(head) else { return false }
    let hash = PlainRequestKey.hash(of: head)
    guard let entry = entries.withLock({ $0.find(hash) }), entry.key.isKey(of: head),
      entry.head == cursors.head
    else { return false }
    stamp.appendHead("HTTP/1.1 200 OK\r\n", for: head, to: &output)
    output.append(bytes: entry.bytes)
    return true
  }

  private static func bytes(_ body: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendField("Content-Type", "application/json")
    bytes.appendField("Cache-Control", "no-store")
    bytes.appendField("X-Content-Type-Options", "nosniff")
    bytes.appendField("Vary", "Accept-Encoding")
    bytes.appendField("Content-Length", decimal: body.count)
    bytes.append("\r\n")
    return bytes + body
  }
}

extension Caller {
  /// Whether the caller's access can end at any time, so that it must be checked at each request: a
  /// device can be revoked, and a verified token expires.
  var isRevocable: Bool { device != nil || user != nil }
}
