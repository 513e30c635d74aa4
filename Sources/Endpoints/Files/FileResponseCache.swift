import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization

/// A cache of responses with small public objects, keyed by the targets of their requests and served on
/// the connection's own event loop, without routing and without access to the store.
///
/// An entry is served only while its object is current (``SmallFile/isCurrent``).
final class FileResponseCache: Sendable {
  private static let entriesMax = 10_000
  /// The same limit as for the small objects themselves.
  private static let bytesMax = 16 << 20

  private let hasCORS: Bool
  private let entries = Mutex(
    CacheGenerations<CachedFile>(countMax: entriesMax, bytesMax: bytesMax))

  init(hasCORS: Bool) {
    self.hasCORS = hasCORS
  }

  /// Stores the response to a request.
  ///
  /// - Parameter fields: the fields of the whole object's response, before CORS.
  func keep(_ file: SmallFile, _ fields: HTTPFields, for request: ServerRequest) {
    guard let key = PlainRequests.files.key(of: request.head) else { return }
    var fields = fields
    if hasCORS { fields.varyByOrigin() }
    let entry = CachedFile(key: key, file: file, fields: fields)
    entries.withLock { $0.keep(entry) }
  }

  /// Writes the cached response to a request.
  ///
  /// - Returns: false, with nothing written, if there is none.
  func writeResponse(
    to head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    guard let entry = find(head) else { return false }
    if CachedResponseChoice.matches(entry.entityTag, head["if-none-match"]) {
      stamp.appendHead("HTTP/1.1 304 Not Modified\r\n", for: head, to: &output)
      output.append(bytes: entry.notModifiedFields)
    } else {
      stamp.appendHead("HTTP/1.1 200 OK\r\n", for: head, to: &output)
      output.append(bytes: entry.fields)
      if case .get = head.method { output.append(bytes: entry.file.content) }
    }
    return true
  }

  private func find(_ head: borrowing RequestHead) -> CachedFile? {
    guard PlainRequests.files.contains(head) else { return nil }
    let hash = PlainRequestKey.hash(of: head)
    guard let entry = entries.withLock({ $0.find(hash) }), entry.key.isKey(of: head) else {
      return nil
    }
    guard entry.file.isCurrent else {
      entries.withLock { $0.remove(entry) }
      return nil
    }
    return entry
  }
}

/// A small object with its HTTP fields in bytes, except those that differ for each request.
final class CachedFile: ResponseCacheEntry {
  let key: PlainRequestKey
  let file: SmallFile
  /// Quotes included.
  let entityTag: [UInt8]
  /// The constant field lines of a 200, and the empty line.
  let fields: [UInt8]
  /// The constant field lines of a 304 (RFC 9110 section 15.4.5), and the empty line.
  let notModifiedFields: [UInt8]

  var byteCount: Int {
    file.content.count + fields.count + notModifiedFields.count + key.byteCount
  }

  private static let notModifiedNames: [HTTPField.Name] = [
    .eTag, .lastModified, .cacheControl, .expires, .vary,
  ]

  /// - Parameter fields: the fields of the whole object's response.
  init(key: PlainRequestKey, file: SmallFile, fields: HTTPFields) {
    self.key = key
    self.file = file
    entityTag = Array((fields[.eTag] ?? "").utf8)
    let shared = Self.lines(of: fields) { Self.notModifiedNames.contains($0) }
    let nosniff = Array("X-Content-Type-Options: nosniff\r\n".utf8)
    let end = Array("\r\n".utf8)
    let length = Array("Content-Length: \(file.content.count)\r\n".utf8)
    notModifiedFields = shared + nosniff + end
    self.fields =
      shared + Self.lines(of: fields) { !Self.notModifiedNames.contains($0) } + length + nosniff
      + end
  }

  private static func lines(
    of fields: HTTPFields, where isWanted: (HTTPField.Name) -> Bool
  ) -> [UInt8] {
    fields.filter { isWanted($0.name) }.flatMap { field in
      Array("\(field.name.rawName): \(field.value)\r\n".utf8)
    }
  }
}
