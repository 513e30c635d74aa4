import HTTPWire
import Synchronization
import Transport

/// Judges requests by a rate limit, for all loops of a server.
final class RateLimiter: Sendable {
  /// Callers that are told apart: 1.5 MiB of places.
  private static let placesMax = 65_536
  /// Locks, so that loops seldom wait for each other.
  private static let shardCount = 16

  private let limit: RateLimit
  private let windowSeconds: Int
  private let shards: [Shard]

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
    shards = (0..<Self.shardCount).map { _ in
      Shard(RateTable(sets: sets, window: limit.window))
    }
  }

  /// Counts a request and judges it; nil for one that is not counted.
  ///
  /// Credentials are counted for themselves, wherever they come from, since many callers may share
  /// an address. Nobody has verified them yet, so the first request with new ones counts for its
  /// address too: inventing credentials gains nothing beyond that.
  func judge(
    _ head: borrowing RequestHead, from address: SocketAddress, now: LoopInstant
  ) -> RateVerdict? {
    if limit.isExempt(head) { return nil }
    let caller = RateCaller(head: head, address: address)
    guard let credentials = caller.credentials else { return count(caller.address, now: now) }
    let isKnown = shard(of: credentials).table.withLock { $0.knows(credentials, now: now) }
    if !isKnown {
      let verdict = count(caller.address, now: now)
      guard verdict.isAllowed else { return verdict }
    }
    return count(credentials, now: now)
  }

  private func count(_ caller: UInt64, now: LoopInstant) -> RateVerdict {
    let window = shard(of: caller).table.withLock { $0.count(caller, now: now) }
    let left = limit.window - now.elapsed(since: window.start)
    let (seconds, attoseconds) = left.components
    return RateVerdict(
      isAllowed: window.count <= limit.requestsMax, requestsMax: limit.requestsMax,
      windowSeconds: windowSeconds, remaining: max(0, limit.requestsMax - window.count),
      resetSeconds: max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0)))
  }

  /// By the upper bits: the lower ones choose the place.
  private func shard(of caller: UInt64) -> Shard {
    shards[Int(caller >> 60) % Self.shardCount]
  }
}
