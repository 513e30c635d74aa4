import Crypto
package import Model
import Synchronization

/// Remembers for a moment that a call failed, so that a dead upstream is not asked again by every
/// caller who comes.
///
/// The moment is jittered: keys that failed together are not retried together.
package final class FailureMemory: Sendable {
  private struct Entry {
    let failure: Failure
    let until: Timestamp
  }

  /// Shorter than a person's patience, longer than a burst of callers.
  package static let spanDefault = Duration.seconds(1)
  /// Keys remembered at once; past it nothing more is remembered until some have passed.
  private static let entriesMax = 10_000

  private let span: Duration
  private let clock: WallClock
  /// A number in 0..<1.
  private let random: @Sendable () -> Double
  private let entries = Mutex<[SHA256.Digest: Entry]>([:])

  package init(
    span: Duration = spanDefault, clock: WallClock, random: @escaping @Sendable () -> Double
  ) {
    self.span = span
    self.clock = clock
    self.random = random
  }

  package func recentFailure(for key: ResultKey) -> Failure? {
    let now = clock.now()
    let digest = Self.digest(of: key)
    return entries.withLock { entries in
      guard let entry = entries[digest] else { return nil }
      // A clock set back must not make a failure last.
      guard now < entry.until, now.advanced(by: span + span) > entry.until else {
        entries[digest] = nil
        return nil
      }
      return entry.failure
    }
  }

  package func remember(_ failure: Failure, for key: ResultKey) {
    let now = clock.now()
    let digest = Self.digest(of: key)
    let until = now.advanced(by: span * (0.5 + random()))
    entries.withLock { entries in
      if entries.count >= Self.entriesMax { entries = entries.filter { $0.value.until > now } }
      guard entries.count < Self.entriesMax else { return }
      entries[digest] = Entry(failure: failure, until: until)
    }
  }

  package func forget(_ key: ResultKey) {
    let digest = Self.digest(of: key)
    entries.withLock { _ = $0.removeValue(forKey: digest) }
  }

  /// In the place of the key, whose variables can be as long as a body may be.
  private static func digest(of key: ResultKey) -> SHA256.Digest {
    var hash = SHA256()
    for part in [key.operation, key.variables, key.scope.subject, key.scope.partition] {
      withUnsafeBytes(of: part.utf8.count) { hash.update(bufferPointer: $0) }
      hash.update(data: Array(part.utf8))
    }
    withUnsafeBytes(of: key.scope.kind.rawValue) { hash.update(bufferPointer: $0) }
    return hash.finalize()
  }
}
