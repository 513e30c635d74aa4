import Model
import Synchronization

/// A clock that stands still until it is told to go on.
final class TestClock: Sendable {
  private let now = Mutex(Timestamp(milliseconds: 1_700_000_000_000))

  var clock: WallClock { WallClock { self.now.withLock { $0 } } }
  var seconds: Int64 { now.withLock { $0.milliseconds / 1000 } }

  func advance(by duration: Duration) {
    now.withLock { $0 = $0.advanced(by: duration) }
  }
}
