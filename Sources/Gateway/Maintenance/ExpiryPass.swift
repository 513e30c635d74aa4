import Model
package import Storage

/// The kinds of stored data that expire.
///
/// A new kind needs a case here: ``ExpiryPass`` must handle it at the trusted time, and the tests
/// run all cases with a clock that jumps.
package enum Expiry: String, CaseIterable, Sendable {
  /// Cached responses, entities that nothing refers to, and tombstones.
  case cache
  case devices
  case sessions
  /// Ended mutations with their idempotency keys, and temporary ids.
  case mutations
  case notifications
}

/// Removes expired data, by the clock that distrusts jumps.
package struct ExpiryPass: Sendable {
  /// Maximum expired sessions removed in one step.
  private static let sessionsMax = 1_000
  /// How long an expired session is kept, so that sessions ended by a wrong clock can be found.
  private static let sessionsAsideFor = Duration.seconds(7 * 86_400)
  /// How long an idempotency key is kept after its notification has ended.
  private static let notificationKeyLife = Duration.seconds(30 * 86_400)
  /// Maximum ended notifications removed in one step.
  private static let notificationsMax = 200

  private let store: Store
  private let devices: DeviceRegistry
  private let queue: SyncQueue
  private let policy: EvictionPolicy
  private let clock: TrustedClock

  /// - Parameters:
  ///   - devices: must use the same clock for expiry.
  ///   - queue: must use the same clock for expiry.
  package init(
    store: Store, devices: DeviceRegistry, queue: SyncQueue, policy: EvictionPolicy,
    clock: TrustedClock
  ) {
    self.store = store
    self.devices = devices
    self.queue = queue
    self.policy = policy
    self.clock = clock
  }

  /// Runs one step of a kind.
  ///
  /// - Returns: the kind of the next step: the same if it may have more to do; nil after the last.
  package func step(of expiry: Expiry) async throws(StorageError) -> Expiry? {
    if try await step(expiry) { return expiry }
    let all = Expiry.allCases
    let next = all.index(after: all.firstIndex(of: expiry) ?? all.endIndex - 1)
    return next < all.endIndex ? all[next] : nil
  }

  /// Records the time until which the service has been running.
  package func noteLived() async throws(StorageError) {
    try await store.noteLived(until: clock.now())
  }

  /// - Returns: whether there may be more to remove.
  func step(_ expiry: Expiry) async throws(StorageError) -> Bool {
    let now = clock.now()
    switch expiry {
    case .cache:
      return try await store.evict(policy, at: now).hasMore
    case .devices:
      // The words of rows of devices that were removed or reset since the last pass.
      if try await store.forgetWords() { return true }
      try await devices.expire()
      return false
    case .sessions:
      let removed = try await store.removeSessions(
        expiredBy: now.advanced(by: .zero - Self.sessionsAsideFor), limit: Self.sessionsMax)
      return removed == Self.sessionsMax
    case .mutations:
      return try await queue.forgetEnded(at: now)
    case .notifications:
      return try await store.forgetNotifications(
        settledBefore: now.advanced(by: .zero - Self.notificationKeyLife),
        limit: Self.notificationsMax)
    }
  }
}
