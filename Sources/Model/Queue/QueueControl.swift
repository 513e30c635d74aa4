/// What holds a whole device's queue, beside its items' own waits.
package struct QueueControl: Hashable, Sendable {
  /// The client asked for it.
  package var isPaused: Bool
  /// Upstream refused a credential: nothing goes before the device's next valid token.
  package var needsCredential: Bool

  package init(isPaused: Bool = false, needsCredential: Bool = false) {
    self.isPaused = isPaused
    self.needsCredential = needsCredential
  }

  /// The name clients see.
  package var state: QueueState {
    isPaused ? .paused : needsCredential ? .authRequired : .running
  }
}
