import Model
import Synchronization

/// Buckets of attempts, one for each network, account or user: full at first, and filled again at an
/// even rate within a minute.
///
/// It is a cache with a few places for each hash, not a dictionary, so a flood of names takes no more
/// memory and no more time than a few. A name without a place takes that of the least used bucket
/// beside it: a flood pushes itself out, never a newcomer and not those who are held back. The hashes
/// are keyed anew in each process, so nobody can choose whose place to take.
final class AttemptThrottle: Sendable {
  /// What attempts are counted for.
  struct Name: Sendable {
    let text: String
    /// How many times the throttle's rate it has, where it stands for many.
    let share: Int

    init(_ text: String, share: Int = 1) {
      self.text = text
      self.share = share
    }
  }

  private struct Bucket {
    let name: UInt64
    let capacity: Double
    /// Attempts that were taken and are not filled again by ``moment``.
    var spent: Double
    var moment: Timestamp

    /// - Parameter capacity: what is filled again in a minute.
    func spent(at now: Timestamp) -> Double {
      let elapsed = Double(max(0, moment.elapsed(until: now).milliseconds))
      return max(0, spent - elapsed / 60_000 * capacity)
    }
  }

  /// Buckets that are looked at for one name.
  private static let ways = 8
  /// Of ``ways`` buckets each; at most 16,384 names are told apart.
  private static let setCount = 2_048
  /// Sums of fractions of a minute may miss a whole attempt by this.
  private static let rounding = 1e-6

  private let perMinute: Int
  private let sets = Mutex([[Bucket]](repeating: [], count: setCount))

  init(perMinute: Int) {
    self.perMinute = perMinute
  }

  /// Takes one attempt out of each bucket, or out of none.
  ///
  /// - Returns: nil where it was taken, else how long to wait.
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

  /// Gives back an attempt that was taken: it turned out not to be one that counts.
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
