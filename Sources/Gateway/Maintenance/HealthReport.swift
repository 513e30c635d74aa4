/// Whether the service takes requests, and what it knows of its surroundings.
package struct HealthReport: Sendable {
  package enum StoreState: String, Sendable {
    case writable
    case readOnly = "not writable"
    /// What was read is damaged: a backup must be restored.
    case damaged
    /// The database was removed or replaced under the service.
    case moved
  }

  package let store: StoreState
  package let operationCount: Int
  /// Nil where nothing has been asked of upstream yet. Told, and not required: Larder goes on
  /// without it.
  package let isUpstreamReachable: Bool?
  /// The process is about to end.
  package let isDraining: Bool

  package init(
    store: StoreState, operationCount: Int, isUpstreamReachable: Bool?, isDraining: Bool
  ) {
    self.store = store
    self.operationCount = operationCount
    self.isUpstreamReachable = isUpstreamReachable
    self.isDraining = isDraining
  }

  package var isReady: Bool { store == .writable && !isDraining }
}
