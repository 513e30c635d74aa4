import Gateway
import HTTPServer
import HTTPWire
import Model
import Synchronization

/// Fresh answers by the bytes of the requests they answered, given on the connection's own loop:
/// no routing, no variables, no hop.
///
/// An entry is trusted only while its rendered answer is current. The cursor is read before that is
/// asked: a commit drops what it touches before it moves the head, so an answer that is current
/// afterwards is right at that cursor.
final class ResponseCache: Sendable {
  /// Distinct (target, credential) pairs.
  private static let entriesMax = 20_000

  /// Ended where the keys are replaced that callers' tokens were signed with.
  let epoch = CredentialEpoch()
  private let cursors: CursorIssuer
  private let plain: PlainRequests
  /// What the `Vary` of what is kept tells beside the fields that always count.
  let varyingNames: [String]
  private let entries: Mutex<CacheGenerations<CachedResponse>>

  /// - Parameter bytesMax: of all responses with what they depend on. Bodies are shared with the cache
  ///   while that holds them, and counted here too.
  init(cursors: CursorIssuer, forwardedNames: [String], hasCORS: Bool, bytesMax: Int) {
    self.cursors = cursors
    entries = Mutex(CacheGenerations(countMax: Self.entriesMax, bytesMax: bytesMax))
    plain = .operations(forwardedNames: forwardedNames, hasCORS: hasCORS)
    varyingNames = forwardedNames + (hasCORS ? ["Origin"] : [])
  }

  /// The key to keep the response to a request under; nil for a request that ``find(_:)`` leaves to
  /// the router.
  func key(of head: borrowing RequestHead) -> PlainRequestKey? { plain.key(of: head) }

  func keep(_ answer: CachedResponse) {
    entries.withLock { $0.keep(answer) }
  }

  /// The answer to a request if it can be given as it stands.
  func find(_ head: borrowing RequestHead) -> CachedResponse? {
    guard plain.contains(head) else { return nil }
    let hash = PlainRequestKey.hash(of: head)
    guard let entry = entries.withLock({ $0.find(hash) }), entry.key.isKey(of: head) else {
      return nil
    }
    guard entry.rendered.isCurrent else {
      entries.withLock { $0.remove(entry) }
      return nil
    }
    return entry
  }

  /// Writes the response to a request that ``find(_:)`` found.
  ///
  /// The loop's clock has seconds; the age that decides is rounded up, so that nothing is given as
  /// fresh that is not.
  ///
  /// - Returns: false, with nothing written, if the answer is not fresh any more.
  func write(
    _ entry: CachedResponse, for head: borrowing RequestHead, stamp: ResponseStamp,
    to output: inout [UInt8]
  ) -> Bool {
    guard let moment = CachedResponseMoment(of: entry, cursors: cursors, stamp: stamp) else {
      return false
    }
    let reply = CachedResponseChoice(entry, to: head)
    reply.begin(stamp: stamp, into: &output)
    stamp.appendRequestID(for: head, to: &output)
    reply.end(at: moment, into: &output)
    return true
  }
}
