import Model
import Synchronization

/// Buckets of attempts, one for each address, account or user: full at first, and filled anew at an
/// even rate within a minute.
final class AttemptThrottle: Sendable {
  private struct Bucket {
    var tokens: Double
    var filled: Timestamp
  }

  /// Past this the full ones go, which say nothing.
  private static let bucketsMax = 20_000
  /// What those share who find no room for a bucket of their own.
  private static let crowd = "others"
  private static let minute = Duration.seconds(60)

  private let perMinute: Int
  private let buckets = Mutex<[String: Bucket]>([:])

  init(perMinute: Int) {
    self.perMinute = perMinute
  }

  /// Takes one attempt out of each bucket, or out of none.
  ///
  /// - Returns: nil where it was taken, else how long to wait.
  func take(_ names: String..., at now: Timestamp) -> Duration? {
    take(names, at: now)
  }

  func take(_ names: [String], at now: Timestamp) -> Duration? {
    buckets.withLock { buckets in
      if buckets.count + names.count > Self.bucketsMax {
        buckets = buckets.filter { tokens(in: $0.value, at: now) < Double(perMinute) }
      }
      // Still too many: those that come share one, rather than have none.
      let isCrowded = buckets.count + names.count > Self.bucketsMax
      let names = names.map { isCrowded && buckets[$0] == nil ? Self.crowd : $0 }
      let filled = names.map { name in
        buckets[name].map { tokens(in: $0, at: now) } ?? Double(perMinute)
      }
      if let least = filled.min(), least < 1 {
        return Self.minute * ((1 - least) / Double(perMinute))
      }
      for (name, tokens) in zip(names, filled) {
        buckets[name] = Bucket(tokens: tokens - 1, filled: now)
      }
      return nil
    }
  }

  /// Gives back an attempt that was taken: it turned out not to be one that counts.
  func giveBack(_ name: String, at now: Timestamp) {
    buckets.withLock { buckets in
      let name = buckets[name] == nil ? Self.crowd : name
      guard let bucket = buckets[name] else { return }
      let tokens = min(Double(perMinute), tokens(in: bucket, at: now) + 1)
      buckets[name] = Bucket(tokens: tokens, filled: now)
    }
  }

  private func tokens(in bucket: Bucket, at now: Timestamp) -> Double {
    let share = Double(bucket.filled.elapsed(until: now).milliseconds)
    let gained = share / Double(Self.minute.milliseconds) * Double(perMinute)
    return min(Double(perMinute), bucket.tokens + gained)
  }
}
