import HTTPWire
import Synchronization
import Transport

/// Judges requests by a rate limit, for all loops of a server.
final class RateLimiter: Sendable {
  /// Callers that are told apart: 1.5 MiB of places.
  private static let placesMax = 65_536
  /// Locks, so that loops seldom wait for each other.
  private static let shardCount = 16

  /// How long a verified credential that nobody presents has a window of its own.
  private static let trustedFor = Duration.seconds(3_600)

  private let limit: RateLimit
  private let windowSeconds: Int
  private let shards: [Shard]
  /// The credentials that were verified.
  private let trusted: [Shard]

  private final class Shard: Sendable {
    let table: Mutex<RateTable>

    init(_ table: sending RateTable) {
      self.table = Mutex(table)
    }
  }

  init(_ limit: RateLimit, placesMax: Int = placesMax) {
    self.limit = limit
    windowSeconds = max(1, Int(limit.window.components.seconds))
    let sets = placesMax / Self.shardCount / RateTable.ways
    shards = Self.shards(sets: sets, window: limit.window)
    trusted = Self.shards(sets: sets, window: Self.trustedFor)
  }

  private static func shards(sets: Int, window: Duration) -> [Shard] {
    (0..<shardCount).map { _ in Shard(RateTable(sets: sets, window: window)) }
  }

  /// Counts a request and judges it; nil for one that is not counted.
  ///
  /// A verified credential is counted for itself, wherever it comes from, since many callers may
  /// share an address. Whatever else comes along counts for the address: inventing credentials
  /// gains nothing.
  func judge(
    _ head: borrowing RequestHead, from address: SocketAddress, now: LoopInstant
  ) -> RateVerdict? {
    if limit.isExempt(head) { return nil }
    let caller = RateCaller(head: head, address: address)
    for credential in [caller.authorization, caller.device] {
      guard let credential else { continue }
      let isTrusted = Self.shard(of: credential, in: trusted).table.withLock {
        $0.renew(credential, now: now)
      }
      if isTrusted { return count(credential, now: now) }
    }
    return count(caller.address, now: now)
  }

  /// A credential turned out to be good: from its next request on it has a window of its own.
  func trust(_ credential: UInt64, now: LoopInstant) {
    Self.shard(of: credential, in: trusted).table.withLock {
      if !$0.renew(credential, now: now) { _ = $0.count(credential, now: now) }
    }
  }

  private func count(_ caller: UInt64, now: LoopInstant) -> RateVerdict {
    let window = Self.shard(of: caller, in: shards).table.withLock { $0.count(caller, now: now) }
    let left = limit.window - now.elapsed(since: window.start)
    let (seconds, attoseconds) = left.components
    return RateVerdict(
      isAllowed: window.count <= limit.requestsMax, requestsMax: limit.requestsMax,
      windowSeconds: windowSeconds, remaining: max(0, limit.requestsMax - window.count),
      resetSeconds: max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0)))
  }

  /// By the upper bits: the lower ones choose the place.
  private static func shard(of caller: UInt64, in shards: [Shard]) -> Shard {
    shards[Int(caller >> 60) % shardCount]
  }
}
