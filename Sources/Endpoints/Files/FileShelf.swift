import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization

/// Small objects that anybody may read, by the targets of the requests that read them: given on the
/// connection's own loop, without routing and without a look at the store.
///
/// An entry is trusted only while its object is what a read would give (``SmallFile/isCurrent``).
final class FileShelf: Sendable {
  private static let entriesMax = 10_000
  /// As much as the small objects themselves may take.
  private static let bytesMax = 16 << 20
  private static let path = Array("/v1/files/".utf8)
  /// Fields that make a request one for the endpoint.
  private static let excluded = [
    "authorization", "cache-control", "device-token", "if-match", "if-modified-since",
    "if-unmodified-since", "origin", "range",
  ]

  private let hasCORS: Bool
  private let entries = Mutex(
    ShelfEntries<ShelvedFile>(countMax: entriesMax, bytesMax: bytesMax))

  init(hasCORS: Bool) {
    self.hasCORS = hasCORS
  }

  /// Keeps the answer to a request.
  ///
  /// - Parameter fields: of the whole object's answer, before CORS.
  func keep(_ file: SmallFile, _ fields: HTTPFields, for request: ServerRequest) {
    guard Self.isPlain(request.head) else { return }
    var fields = fields
    if hasCORS { fields.varyByOrigin() }
    let entry = ShelvedFile(target: Array(request.head.target), file: file, fields: fields)
    let hash = PlainRequests.hash(request.head.target, [])
    entries.withLock { $0.keep(entry, at: hash) }
  }

  /// - Returns: false, with nothing written, for a request that is not answered here.
  func answer(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    guard let entry = find(head) else { return false }
    let reply = ShelvedFileReply(entry, to: head)
    reply.begin(stamp: stamp, into: &output)
    stamp.appendRequestID(for: head, to: &output)
    reply.end(into: &output)
    return true
  }

  /// What requests with the bytes of this one can be answered with while the object stands.
  func repeatableAnswer(to head: borrowing RequestHead) -> RepeatedFile? {
    guard !head.fields.contains("request-id"), let entry = find(head) else { return nil }
    return RepeatedFile(entry, reply: ShelvedFileReply(entry, to: head))
  }

  private func find(_ head: borrowing RequestHead) -> ShelvedFile? {
    guard head.target.starts(with: Self.path), Self.isPlain(head) else { return nil }
    let hash = PlainRequests.hash(head.target, [])
    guard let entry = entries.withLock({ $0[hash] }), head.target.equals(entry.target) else {
      return nil
    }
    guard entry.file.isCurrent else {
      entries.withLock { $0.remove(entry, at: hash) }
      return nil
    }
    return entry
  }

  /// A request whose answer depends on nothing but its target.
  private static func isPlain(_ head: borrowing RequestHead) -> Bool {
    guard head.method == .get || head.method == .head, head.keepsAlive, !head.hasBody,
      head.query == nil
    else { return false }
    for name in excluded where head.contains(name) { return false }
    return true
  }
}
