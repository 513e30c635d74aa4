import Model
import Synchronization

/// Rate limiter with a token bucket for each network, account or user. Buckets start full and
/// refill evenly within a minute.
///
/// It is a set-associative cache, not a dictionary, so memory and time stay bounded under a flood
/// of names. A new name replaces the least used bucket of its set: a flood evicts its own buckets,
/// not those of newcomers or of limited callers. Hashes are seeded per process, so callers cannot
/// choose which bucket to evict.
final class AttemptThrottle: Sendable {
  /// The name of a bucket.
  struct Name: Sendable {
    let text: String
    /// The multiple of the throttle's rate that it gets, if it stands for many callers.
    let share: Int

    init(_ text: String, share: Int = 1) {
      self.text = text
      self.share = share
    }
  }

  private struct Bucket {
    let name: UInt64
    let capacity: Double
    /// Attempts taken and not refilled as of ``moment``.
    var spent: Double
    var moment: Timestamp

    /// - Parameter capacity: the number of attempts refilled per minute.
    func spent(at now: Timestamp) -> Double {
      let elapsed = Double(max(0, moment.elapsed(until: now).milliseconds))
      return max(0, spent - elapsed / 60_000 * capacity)
    }
  }

  /// Buckets of one set.
  private static let ways = 8
  /// The number of sets, each of ``ways`` buckets; at most 16,384 names are distinguished.
  private static let setCount = 2_048
  /// Tolerance for sums of fractions of a minute.
  private static let rounding = 1e-6

  private let perMinute: Int
  private let sets = Mutex([[Bucket]](repeating: [], count: setCount))

  init(perMinute: Int) {
    self.perMinute = perMinute
  }

  /// Takes one attempt from every bucket, or from none.
  ///
  /// - Returns: nil if taken, otherwise the time to wait.
  func take(_ names: Name..., at now: Timestamp) -> Duration? {
    take(names, at: now)
  }

  func take(_ names: [Name], at now: Timestamp) -> Duration? {
    let wanted = names.map { (Self.hash($0), Double(perMinute * $0.share)) }
    return sets.withLock { sets in
      var wait: Duration?
      for (name, capacity) in wanted {
        let bucket = sets[Self.set(of: name)].first { $0.name == name }
        let lacking = (bucket?.spent(at: now) ?? 0) + 1 - capacity
        guard lacking > Self.rounding else { continue }
        wait = max(wait ?? .zero, .seconds(60) * (lacking / capacity))
      }
      if let wait { return wait }
      for (name, capacity) in wanted {
        Self.spend(name, capacity: capacity, of: &sets[Self.set(of: name)], at: now)
      }
      return nil
    }
  }

  /// Returns an attempt that turned out not to count.
  func giveBack(_ names: Name..., at now: Timestamp) {
    giveBack(names, at: now)
  }

  func giveBack(_ names: [Name], at now: Timestamp) {
    let hashes = names.map(Self.hash)
    sets.withLock { sets in
      for name in hashes {
        let set = Self.set(of: name)
        guard let index = sets[set].firstIndex(where: { $0.name == name }) else { continue }
        sets[set][index].spent = max(0, sets[set][index].spent(at: now) - 1)
        sets[set][index].moment = now
      }
    }
  }

  private static func spend(
    _ name: UInt64, capacity: Double, of set: inout [Bucket], at now: Timestamp
  ) {
    if let index = set.firstIndex(where: { $0.name == name }) {
      set[index].spent = set[index].spent(at: now) + 1
      set[index].moment = now
      return
    }
    let bucket = Bucket(name: name, capacity: capacity, spent: 1, moment: now)
    guard set.count == ways else {
      set.append(bucket)
      return
    }
    let least = set.indices.min { first, second in
      set[first].spent(at: now) / set[first].capacity
        < set[second].spent(at: now) / set[second].capacity
    }
    set[least ?? 0] = bucket
  }

  private static func hash(_ name: Name) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(name.text)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  private static func set(of name: UInt64) -> Int { Int(name % UInt64(setCount)) }
}

extension ClientNetwork {
  /// A block's limit as a multiple of one network's.
  private static let blockShare = 8

  /// The buckets that count attempts from here: the network, and its block if that is larger.
  var attemptNames: [AttemptThrottle.Name] {
    let own = AttemptThrottle.Name("network \(name)")
    guard block != name else { return [own] }
    return [own, AttemptThrottle.Name("block \(block)", share: Self.blockShare)]
  }
}
