import Gateway
import Logging
import Model
import Storage
import Upstream

/// Keeps the store from growing without end: drops what no window serves any more, what nothing
/// refers to once the budget is passed, deletions that are old enough to be forgotten, devices
/// that nobody uses, and sessions that are over.
struct StoreKeeper: Sendable {
  /// Between passes.
  private static let rest = Duration.seconds(300)
  /// Between the steps of a pass, each a few milliseconds of the writer.
  private static let pause = Duration.milliseconds(50)

  /// Expired sessions that go in one step.
  private static let sessionsMax = 1_000
  /// How long an idempotency key stands for its notification after that has ended.
  private static let notificationKeyLife = Duration.seconds(30 * 86_400)
  /// Ended notifications that go in one step.
  private static let notificationsMax = 200

  private let store: Store
  private let devices: DeviceRegistry
  private let queue: SyncQueue
  private let policy: EvictionPolicy
  private let clock: WallClock
  private let logger: Logger

  init(
    store: Store, devices: DeviceRegistry, queue: SyncQueue, registry: OperationRegistry,
    bytesMax: Int, logger: Logger
  ) {
    self.store = store
    self.devices = devices
    self.queue = queue
    self.logger = logger
    clock = SystemClock.wall
    let queries = registry.operations.filter { $0.kind == .query }
    policy = EvictionPolicy(
      windows: Dictionary(uniqueKeysWithValues: queries.map { ($0.name, $0.cache.servedFor) }),
      bytesMax: bytesMax)
  }

  /// Runs until it is cancelled. A store that cannot be written is tried again at the next pass.
  func run() async {
    while !Task.isCancelled {
      var hasMore = false
      do {
        hasMore = try await store.evict(policy, at: clock.now()).hasMore
        if !hasMore {
          try await devices.expire()
          let removed = try await store.removeSessions(
            expiredBy: clock.now(), limit: Self.sessionsMax)
          let hasMoreMutations = try await queue.forgetEnded()
          hasMore = hasMoreMutations || removed == Self.sessionsMax
        }
        if !hasMore {
          hasMore = try await store.forgetNotifications(
            settledBefore: clock.now().advanced(by: .zero - Self.notificationKeyLife),
            limit: Self.notificationsMax)
        }
      } catch {
        logger.warning("the store was not cleaned", metadata: ["cause": "\(error)"])
      }
      try? await Task.sleep(for: hasMore ? Self.pause : Self.rest)
    }
  }
}

extension CachePolicy {
  /// The longest time after it was received for which any window serves an answer.
  fileprivate var servedFor: Duration { maxAge + max(staleWhileRevalidate, staleIfError) }
}
