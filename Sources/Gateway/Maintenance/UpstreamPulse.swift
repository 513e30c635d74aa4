import Synchronization

/// What the last call to upstream told of its health, for `/readyz`.
package final class UpstreamPulse: Sendable {
  private static let unknown = 0
  private static let good = 1
  private static let bad = 2

  private let state = Atomic(unknown)

  package init() {}

  /// Nil where nothing has been asked yet.
  package var isReachable: Bool? {
    switch state.load(ordering: .relaxed) {
    case Self.good: true
    case Self.bad: false
    default: nil
    }
  }

  package func note(isReachable: Bool) {
    state.store(isReachable ? Self.good : Self.bad, ordering: .relaxed)
  }
}
