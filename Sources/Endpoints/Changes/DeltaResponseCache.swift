import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import Synchronization

/// Pages of changes that held nothing, by the bytes of the requests they answered: what whoever asks
/// again and again is told nearly every time, given on the connection's own loop.
///
/// A page that was empty at one head of the log is the same page until the head moves. It is kept
/// only for those who are known by target and `Authorization` alone: a device may be revoked, and
/// that is asked anew each time.
final class DeltaResponseCache: Sendable {
  /// One page, from the status line on but for what each response has of its own.
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

  /// Distinct (target, credential) pairs. Each has a cursor in it, so entries of heads gone by are
  /// never asked for again, and go with their generation.
  private static let entriesMax = 10_000
  /// Of them all: whoever asks says how long its credential is.
  private static let bytesMax = 16 << 20

  private let cursors: CursorIssuer
  private let plain: PlainRequests
  /// Larger bodies might be wanted compressed.
  private let compressionBytesMin: Int
  private let entries = Mutex(
    CacheGenerations<Entry>(countMax: entriesMax, bytesMax: bytesMax))

  init(cursors: CursorIssuer, plain: PlainRequests, compressionBytesMin: Int) {
    self.cursors = cursors
    self.plain = plain
    self.compressionBytesMin = compressionBytesMin
  }

  /// The head to keep a page by; to be noted before the page is read.
  var head: Revision { cursors.head }

  /// Keeps the answer to a request for a page that turned out to be empty and the last.
  ///
  /// - Parameter head: noted before the page was read.
  func keep(_ body: [UInt8], for request: ServerRequest, at head: Revision) {
    guard body.count < compressionBytesMin, let key = plain.key(of: request.head) else { return }
    let entry = Entry(key: key, head: head, bytes: Self.bytes(body))
    entries.withLock { $0.keep(entry) }
  }

  /// Answers a request that was answered with an empty page since the log last moved.
  ///
  /// - Returns: false, with nothing written, for any other.
  func answer(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    guard plain.contains(head) else { return false }
    let hash = PlainRequestKey.hash(of: head)
    guard let entry = entries.withLock({ $0.find(hash) }), entry.key.isKey(of: head),
      entry.head == cursors.head
    else { return false }
    output.append("HTTP/1.1 200 OK\r\n")
    stamp.appendDate(to: &output)
    stamp.appendRequestID(for: head, to: &output)
    output.append(contentsOf: entry.bytes)
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
  /// Its right to ask may end at any time, so it is looked at anew with each request: a device may be
  /// revoked, and a verified token expires.
  var mayEnd: Bool { device != nil || user != nil }
}
