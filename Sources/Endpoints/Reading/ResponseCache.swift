import Gateway
import HTTPServer
import HTTPWire
import Model
import Synchronization

/// A cache of fresh responses, keyed by the bytes of their requests and served on the connection's own
/// event loop: no routing, no coercion of variables, no change of thread.
///
/// An entry is served only while its rendered response is current. The cursor is read before that
/// check: a commit drops the entries it touches before it moves the head, so a response that is still
/// current after the check is correct at that cursor.
final class ResponseCache: Sendable {
  /// Distinct (target, credential, content) triples.
  private static let entriesMax = 20_000

  /// Ends when the keys that sign callers' tokens are replaced.
  let epoch = CredentialEpoch()
  private let cursors: CursorIssuer
  private let plain: PlainRequests
  /// Field names that `Vary` lists in cached responses besides those it always lists.
  let varyingNames: [String]
  private let entries: Mutex<CacheGenerations<CachedResponse>>

  /// - Parameter bytesMax: bytes of all responses and of their keys and dependencies. Bodies are shared
  ///   with ``Gateway/RenderedCache`` while that holds them, and count here too.
  init(cursors: CursorIssuer, forwardedNames: [String], hasCORS: Bool, bytesMax: Int) {
    self.cursors = cursors
    entries = Mutex(CacheGenerations(countMax: Self.entriesMax, bytesMax: bytesMax))
    plain = .operations(forwardedNames: forwardedNames, hasCORS: hasCORS)
    varyingNames = forwardedNames + (hasCORS ? ["Origin"] : [])
  }

  /// The key to store the response to a request under; nil for a request that ``find(_:content:)`` leaves
  /// to the router.
  func key(of head: borrowing RequestHead, content: [UInt8] = []) -> PlainRequestKey? {
    plain.key(of: head, content: content)
  }

  func keep(_ response: CachedResponse) {
    entries.withLock { $0.keep(response) }
  }

  /// The cached response to a request; nil unless it is current and the request is plain.
  func find(
    _ head: borrowing RequestHead,
    content: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) -> CachedResponse? {
    guard plain.contains(head, content: content), let form = ReadForm(of: head) else { return nil }
    let hash = PlainRequestKey.hash(of: head, content: content, form: form)
    guard let entry = entries.withLock({ $0.find(hash) }),
      entry.key.isKey(of: head, content: content, form: form)
    else { return nil }
    guard entry.rendered.isCurrent else {
      entries.withLock { $0.remove(entry) }
      return nil
    }
    return entry
  }

  /// Writes the response to a request that ``find(_:content:)`` found.
  ///
  /// - Returns: false, with nothing written, if the response is no longer fresh or current
  ///   (``CachedResponseMoment``).
  func write(
    _ entry: CachedResponse, for head: borrowing RequestHead, stamp: ResponseStamp,
    to output: inout [UInt8]
  ) -> Bool {
    guard let moment = CachedResponseMoment(of: entry, cursors: cursors, stamp: stamp) else {
      return false
    }
    CachedResponseChoice.write(entry, at: moment, for: head, stamp: stamp, to: &output)
    return true
  }
}

/// The entries of a response cache by the hashes of their keys, bounded in number and in bytes.
///
/// There are two generations, each with half of both bounds. When the young one is full it becomes the
/// old one, and the entries of the former old one that were not requested in the meantime are dropped.
/// So entries whose requests never recur, such as those with expired tokens, leave the cache early.
struct CacheGenerations<Entry: ResponseCacheEntry> {
  private let countMax: Int
  private let bytesMax: Int
  private var young: [Int: Entry] = [:]
  private var youngBytes = 0
  private var old: [Int: Entry] = [:]

  init(countMax: Int, bytesMax: Int) {
    self.countMax = countMax / 2
    self.bytesMax = bytesMax / 2
  }

  /// Finds the entry whose key has a hash. The caller must compare the key with the request.
  mutating func find(_ hash: Int) -> Entry? {
    if let entry = young[hash] { return entry }
    guard let entry = old.removeValue(forKey: hash) else { return nil }
    keep(entry)
    return entry
  }

  /// Adds an entry, unless it alone exceeds the bound of a generation.
  mutating func keep(_ entry: Entry) {
    let hash = entry.key.hash
    let size = entry.byteCount
    old[hash] = nil
    if let former = young.removeValue(forKey: hash) { youngBytes -= former.byteCount }
    guard size <= bytesMax else { return }
    if young.count >= countMax || youngBytes + size > bytesMax {
      old = young
      young = [:]
      youngBytes = 0
    }
    young[hash] = entry
    youngBytes += size
  }

  /// Removes this entry; an entry that has replaced it in the meantime stays.
  mutating func remove(_ entry: Entry) {
    let hash = entry.key.hash
    if young[hash] === entry {
      young[hash] = nil
      youngBytes -= entry.byteCount
    }
    if old[hash] === entry { old[hash] = nil }
  }
}

/// An entry of ``CacheGenerations``.
protocol ResponseCacheEntry: AnyObject, Sendable {
  /// The parts of the request that its response depends on.
  var key: PlainRequestKey { get }
  /// Approximate size in memory.
  var byteCount: Int { get }
}

/// A counter that advances when all credentials that were valid become invalid at once. Responses
/// cached in an earlier epoch are never served again.
final class CredentialEpoch: Sendable {
  private let number = Atomic(0)

  var current: Int { number.load(ordering: .acquiring) }

  func end() {
    number.add(1, ordering: .releasing)
  }
}
