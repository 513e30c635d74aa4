import Synchronization
import Upstream

/// What the last call to upstream told of its health, for `/readyz` and for those who wait for it.
package final class UpstreamPulse: Sendable {
  private static let unknown = 0
  private static let good = 1
  private static let bad = 2

  private let state = Atomic(unknown)
  private let worked = Mutex<(@Sendable (_ upstream: String) -> Void)?>(nil)

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

  /// Upstream answered what the sync queue had no part in.
  func note(_ answer: UpstreamAnswer, of operation: RegisteredOperation) {
    note(isReachable: true)
    guard answer.kind == .success else { return }
    worked.withLock { $0 }?(operation.upstream)
  }

  /// - Parameter worked: told of each answer without errors; on the path of every miss.
  func observe(_ worked: @escaping @Sendable (_ upstream: String) -> Void) {
    self.worked.withLock { $0 = worked }
  }
}
