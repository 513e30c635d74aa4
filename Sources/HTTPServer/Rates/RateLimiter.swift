package import HTTPWire
import Synchronization
import Transport

/// A limit on the requests of one caller in a window of time.
package struct RateLimit: Sendable {
  package var requestsMax: Int
  /// From a caller's first request on.
  package var window: Duration
  /// Whether a request is not counted, such as a health check.
  var isExempt: @Sendable (borrowing RequestHead) -> Bool

  /// How many times as many CORS preflights as other requests an address can send, in a window of their own.
  /// A browser sends them by itself, and they name no caller, so all callers behind an address share it. They
  /// cost little, but they are bounded.
  static let preflightFactor = 10

  package init(
    requestsMax: Int, window: Duration,
    isExempt: @escaping @Sendable (borrowing RequestHead) -> Bool = { _ in false }
  ) {
    self.requestsMax = requestsMax
    self.window = window
    self.isExempt = isExempt
  }

  /// Whether a request is a CORS preflight (Fetch standard, 3.2.2).
  fileprivate static func isPreflight(_ head: borrowing RequestHead) -> Bool {
    head.method == .options && head["origin"] != nil
      && head["access-control-request-method"] != nil
  }
}

/// The verdict of a rate limit on one request.
struct RateVerdict: Sendable, Equatable {
  let isAllowed: Bool
  /// Of the limit that the request counts against.
  var policy = "default"
  let requestsMax: Int
  let windowSeconds: Int
  /// Requests left after this one.
  let remaining: Int
  /// Time until the caller's window ends; at least 1.
  let resetSeconds: Int

  /// Appends the fields that state the limit, as structured fields
  /// (draft-ietf-httpapi-ratelimit-headers).
  func append(to output: inout [UInt8]) {
    output.append("RateLimit-Policy: \"")
    output.append(contentsOf: policy.utf8)
    output.append("\";q=")
    output.append(decimal: requestsMax)
    output.append(";w=")
    output.append(decimal: windowSeconds)
    output.append("\r\nRateLimit: \"")
    output.append(contentsOf: policy.utf8)
    output.append("\";r=")
    output.append(decimal: remaining)
    output.append(";t=")
    output.append(decimal: resetSeconds)
    output.appendLineEnd()
  }
}

/// Rate limiter for all loops of a server.
final class RateLimiter: Sendable {
  /// Callers counted separately: 1.5 MiB of places.
  private static let placesMax = 65_536
  /// The number of locks, so that loops seldom wait for each other.
  private static let shardCount = 16

  /// How long an unused verified credential keeps its own window.
  private static let trustedFor = Duration.seconds(3_600)

  private let limit: RateLimit
  /// The limit of this process: its share of the limit of all nodes.
  private let requestsMax: Atomic<Int>
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
    requestsMax = Atomic(limit.requestsMax)
    windowSeconds = max(1, Int(limit.window.components.seconds))
    let sets = placesMax / Self.shardCount / RateTable.ways
    shards = Self.shards(sets: sets, window: limit.window)
    trusted = Self.shards(sets: sets, window: Self.trustedFor)
  }

  private static func shards(sets: Int, window: Duration) -> [Shard] {
    (0..<shardCount).map { _ in Shard(RateTable(sets: sets, window: window)) }
  }

  /// Divides the limit among the nodes that clients reach alike. At least one request is left for each.
  ///
  /// Windows that have begun keep their counts.
  func divide(among nodeCount: Int) {
    requestsMax.store(max(1, limit.requestsMax / max(1, nodeCount)), ordering: .relaxed)
  }

  /// Counts a request and returns the verdict; nil for an exempt request.
  ///
  /// A verified credential is counted separately, whatever its address, since many callers can share an
  /// address. All other requests count for their address, so inventing credentials gains nothing.
  func judge(
    _ head: borrowing RequestHead, from address: SocketAddress, now: LoopInstant
  ) -> RateVerdict? {
    if limit.isExempt(head) { return nil }
    let caller = RateCaller(head: head, address: address)
    if RateLimit.isPreflight(head) {
      // The hash of the address is seeded, and any other number of it is a place of its own.
      return count(
        ~caller.address, now: now, policy: "preflight",
        requestsMax: requestsMax.load(ordering: .relaxed) * RateLimit.preflightFactor)
    }
    for credential in [caller.authorization, caller.device] {
      guard let credential else { continue }
      let isTrusted = Self.shard(of: credential, in: trusted).table.withLock {
        $0.renew(credential, now: now)
      }
      if isTrusted { return count(credential, now: now) }
    }
    return count(caller.address, now: now)
  }

  private func count(_ caller: UInt64, now: LoopInstant) -> RateVerdict {
    count(caller, now: now, policy: "default", requestsMax: requestsMax.load(ordering: .relaxed))
  }

  /// Marks a credential as verified: from its next request on it has its own window.
  func trust(_ credential: UInt64, now: LoopInstant) {
    Self.shard(of: credential, in: trusted).table.withLock {
      if !$0.renew(credential, now: now) { _ = $0.count(credential, now: now) }
    }
  }

  private func count(
    _ caller: UInt64, now: LoopInstant, policy: String, requestsMax: Int
  ) -> RateVerdict {
    let window = Self.shard(of: caller, in: shards).table.withLock { $0.count(caller, now: now) }
    let left = limit.window - now.elapsed(since: window.start)
    let (seconds, attoseconds) = left.components
    return RateVerdict(
      isAllowed: window.count <= requestsMax, policy: policy, requestsMax: requestsMax,
      windowSeconds: windowSeconds, remaining: max(0, requestsMax - window.count),
      resetSeconds: max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0)))
  }

  /// Chooses a shard by the upper bits; the lower bits choose the place.
  private static func shard(of caller: UInt64, in shards: [Shard]) -> Shard {
    shards[Int(caller >> 60) % shardCount]
  }
}
