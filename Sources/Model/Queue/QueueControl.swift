/// What holds a whole device's queue, beside its items' own waits.
package struct QueueControl: Hashable, Sendable {
  /// The client asked for it.
  package var isPaused: Bool
  /// Upstream refused a credential: nothing goes before the device's next valid token.
  package var needsCredential: Bool
  /// It waits because the stored credential could not be opened with this process's key, not because
  /// upstream refused it: the next start, perhaps with the right key, tries it again.
  package var isUnreadable: Bool

  package init(
    isPaused: Bool = false, needsCredential: Bool = false, isUnreadable: Bool = false
  ) {
    self.isPaused = isPaused
    self.needsCredential = needsCredential
    self.isUnreadable = isUnreadable
  }

  /// The name clients see.
  package var state: QueueState {
    isPaused ? .paused : needsCredential ? .authRequired : .running
  }
}
