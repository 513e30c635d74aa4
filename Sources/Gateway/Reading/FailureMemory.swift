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
  private let entries = Mutex<[ResultKey: Entry]>([:])

  package init(
    span: Duration = spanDefault, clock: WallClock, random: @escaping @Sendable () -> Double
  ) {
    self.span = span
    self.clock = clock
    self.random = random
  }

  package func recentFailure(for key: ResultKey) -> Failure? {
    let now = clock.now()
    return entries.withLock { entries in
      guard let entry = entries[key] else { return nil }
      // A clock set back must not make a failure last.
      guard now < entry.until, now.advanced(by: span + span) > entry.until else {
        entries[key] = nil
        return nil
      }
      return entry.failure
    }
  }

  package func remember(_ failure: Failure, for key: ResultKey) {
    let now = clock.now()
    let until = now.advanced(by: span * (0.5 + random()))
    entries.withLock { entries in
      if entries.count >= Self.entriesMax { entries = entries.filter { $0.value.until > now } }
      guard entries.count < Self.entriesMax else { return }
      entries[key] = Entry(failure: failure, until: until)
    }
  }

  package func forget(_ key: ResultKey) {
    entries.withLock { _ = $0.removeValue(forKey: key) }
  }
}
