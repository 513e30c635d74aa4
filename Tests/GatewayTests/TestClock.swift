import Model
import Synchronization

/// A clock that stands still until it is told to go on.
final class TestClock: Sendable {
  private let now = Mutex(Timestamp(milliseconds: 1_700_000_000_000))

  var clock: WallClock { WallClock { self.now.withLock { $0 } } }

  func advance(by duration: Duration) {
    now.withLock { $0 = $0.advanced(by: duration) }
  }
}
