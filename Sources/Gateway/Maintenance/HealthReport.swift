/// Whether the service takes requests, and what it knows of its surroundings.
package struct HealthReport: Sendable {
  /// The store takes writes.
  package let isStoreWritable: Bool
  package let operationCount: Int
  /// Nil where nothing has been asked of upstream yet. Told, and not required: Larder goes on
  /// without it.
  package let isUpstreamReachable: Bool?
  /// The process is about to end.
  package let isDraining: Bool

  package init(
    isStoreWritable: Bool, operationCount: Int, isUpstreamReachable: Bool?, isDraining: Bool
  ) {
    self.isStoreWritable = isStoreWritable
    self.operationCount = operationCount
    self.isUpstreamReachable = isUpstreamReachable
    self.isDraining = isDraining
  }

  package var isReady: Bool { isStoreWritable && !isDraining }
}
