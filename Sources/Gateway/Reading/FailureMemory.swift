import Cryptography
package import Model
import Synchronization

/// Remembers for a short time that a call failed, so that not every caller sends another request to
/// an upstream that is down.
///
/// The time is jittered: keys that failed together are not retried together.
package final class FailureMemory: Sendable {
  /// The default time: shorter than a person's patience, longer than a burst of callers.
  static let spanDefault = Duration.seconds(1)
  private static let bytesMax = 4 << 20

  private let span: Duration
  private let clock: WallClock
  /// A number in 0..<1.
  private let random: @Sendable () -> Double
  private let failures = Mutex(ExpiringValues<SHA256.Digest, Failure>(bytesMax: bytesMax))

  package init(
    span: Duration = spanDefault, clock: WallClock, random: @escaping @Sendable () -> Double
  ) {
    self.span = span
    self.clock = clock
    self.random = random
  }

  /// Returns the failure of a recent call for the key; nil if there is none.
  func recentFailure(for key: ResultKey) -> Failure? {
    let now = clock.now()
    let digest = Self.digest(of: key)
    return failures.withLock { $0[digest, at: now] }
  }

  package func remember(_ failure: Failure, for key: ResultKey) {
    let now = clock.now()
    let digest = Self.digest(of: key)
    let until = now.advanced(by: span * (0.5 + random()))
    failures.withLock {
      $0.insert(failure, for: digest, until: until, bytes: failure.byteCount, at: now)
    }
  }

  package func forget(_ key: ResultKey) {
    let digest = Self.digest(of: key)
    failures.withLock { $0.remove(digest) }
  }

  /// A digest used instead of the key, whose variables can be as long as a request body.
  private static func digest(of key: ResultKey) -> SHA256.Digest {
    var hash = RunningHash<SHA256>()
    for part in [key.operation, key.variables, key.scope.subject, key.scope.partition] {
      withUnsafeBytes(of: part.utf8.count) { hash.update(bufferPointer: $0) }
      hash.update(data: Array(part.utf8))
    }
    withUnsafeBytes(of: key.scope.kind.rawValue) { hash.update(bufferPointer: $0) }
    return hash.finalize()
  }
}
