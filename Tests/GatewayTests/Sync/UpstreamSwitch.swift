import Synchronization

/// Whether a scripted upstream can be reached.
final class UpstreamSwitch: Sendable {
  private let state: Mutex<Bool>

  init(isAway: Bool) {
    state = Mutex(isAway)
  }

  var isAway: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
