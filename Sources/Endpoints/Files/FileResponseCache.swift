import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization

/// Small objects that anybody may read, by the targets of the requests that read them: given on the
/// connection's own loop, without routing and without a look at the store.
///
/// An entry is trusted only while its object is what a read would give (``SmallFile/isCurrent``).
final class FileResponseCache: Sendable {
  private static let entriesMax = 10_000
  /// As much as the small objects themselves may take.
  private static let bytesMax = 16 << 20

  private let hasCORS: Bool
  private let entries = Mutex(
    CacheGenerations<CachedFile>(countMax: entriesMax, bytesMax: bytesMax))

  init(hasCORS: Bool) {
    self.hasCORS = hasCORS
  }

  /// Keeps the answer to a request.
  ///
  /// - Parameter fields: of the whole object's answer, before CORS.
  func keep(_ file: SmallFile, _ fields: HTTPFields, for request: ServerRequest) {
    guard let key = PlainRequests.files.key(of: request.head) else { return }
    var fields = fields
    if hasCORS { fields.varyByOrigin() }
    let entry = CachedFile(key: key, file: file, fields: fields)
    entries.withLock { $0.keep(entry) }
  }

  /// - Returns: false, with nothing written, for a request that is not answered here.
  func answer(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    guard let entry = find(head) else { return false }
    let reply = CachedFileChoice(entry, to: head)
    reply.begin(stamp: stamp, into: &output)
    stamp.appendRequestID(for: head, to: &output)
    reply.end(into: &output)
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
