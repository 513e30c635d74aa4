import Model
package import Storage

/// Removes what has expired, by the clock that doubts jumps.
package struct ExpiryPass: Sendable {
  /// Expired sessions that go in one step.
  private static let sessionsMax = 1_000
  /// How long an expired session is kept, so that one can be found that a wrong clock ended.
  private static let sessionsAsideFor = Duration.seconds(7 * 86_400)
  /// How long an idempotency key stands for its notification after that has ended.
  private static let notificationKeyLife = Duration.seconds(30 * 86_400)
  /// Ended notifications that go in one step.
  private static let notificationsMax = 200

  private let store: Store
  private let devices: DeviceRegistry
  private let queue: SyncQueue
  private let policy: EvictionPolicy
  private let clock: TrustedClock

  /// - Parameters:
  ///   - devices: expires by the same clock.
  ///   - queue: the same.
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

  /// One step of a kind.
  ///
  /// - Returns: the kind to go on with: the same where it may have more to do; nil after the last.
  package func step(of expiry: Expiry) async throws(StorageError) -> Expiry? {
    if try await step(expiry) { return expiry }
    let all = Expiry.allCases
    let next = all.index(after: all.firstIndex(of: expiry) ?? all.endIndex - 1)
    return next < all.endIndex ? all[next] : nil
  }

  /// Notes until when the service has lived.
  package func noteLived() async throws(StorageError) {
    try await store.noteLived(until: clock.now())
  }

  /// - Returns: whether there may be more.
  func step(_ expiry: Expiry) async throws(StorageError) -> Bool {
    let now = clock.now()
    switch expiry {
    case .cache:
      return try await store.evict(policy, at: now).hasMore
    case .devices:
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
