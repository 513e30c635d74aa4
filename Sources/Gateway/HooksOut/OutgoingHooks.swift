package import Logging
package import Model
package import Storage
import Synchronization

/// The hooks that are called about local writes and mutations: asked before, or called after.
///
/// An event for a hook `after` is written in the transaction that it reports, so a crash loses neither or
/// both. It is delivered at least once; the events of one entity arrive in order, and those of different
/// entities do not wait for each other.
package final class OutgoingHooks: Sendable {
  /// A hook as operators see it.
  package struct Summary: Sendable {
    package let hook: OutgoingHook
    package let counts: HookCallCounts
    /// Undelivered events; nil for a hook `before`.
    package let pending: Int?
    /// Bytes of their bodies; nil for a hook `before`.
    package let pendingBytes: Int?
  }

  /// A name that the settings no longer have, with the events that wait for it.
  package struct Removed: Sendable {
    package let name: String
    package let pending: Int
    /// Bytes of their bodies.
    package let pendingBytes: Int
  }

  /// How often old events are looked for, which are usually those of hooks that are not called any more.
  private static let sweepInterval = Duration.seconds(600)
  private static let sweepMax = 500

  /// Nil if no hook is asked before writes.
  package let reviewer: HookReviewer?
  private let hooks: [OutgoingHook]
  private let store: Store
  private let entities: EntityRenderer
  private let environment: PushEnvironment
  private let logger: Logger
  private let meters: [String: HookOutMeters]
  private let workers: [String: HookWorker]
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// - Parameter entities: renders entities as their owners read them, see ``EntityRenderer/reported(_:_:)``.
  package init(
    hooks: [OutgoingHook], store: Store, entities: EntityRenderer, exchange: HookExchange,
    environment: PushEnvironment, logger: Logger
  ) {
    self.hooks = hooks
    self.store = store
    self.entities = entities
    self.environment = environment
    self.logger = logger
    let meters = Dictionary(
      hooks.map { ($0.name, HookOutMeters(hook: $0.name, logger: logger)) },
      uniquingKeysWith: { first, _ in first })
    self.meters = meters
    var workers: [String: HookWorker] = [:]
    for hook in hooks where hook.moment == .after {
      guard let meters = meters[hook.name] else { continue }
      workers[hook.name] = HookWorker(
        hook, store: store, exchange: exchange, environment: environment, meters: meters)
    }
    self.workers = workers
    let before = hooks.filter { $0.moment == .before }
    reviewer =
      before.isEmpty
      ? nil
      : HookReviewer(
        hooks: before, meters: meters, entities: entities, exchange: exchange,
        environment: environment)
  }

  /// What mutations must report, see ``MutationRunner``.
  package var subscriptions: HookSubscriptions { HookSubscriptions(hooks, .after) }

  // MARK: Lifecycle

  /// Sets the hooks whose events are written; call it before anything can be written.
  package func prepare() async {
    let (entities, environment) = (entities, environment)
    let outbox = HookOutbox(
      subscriptions, render: { try entities.reported($0, $1) },
      makeID: { "evt_\(environment.makeUUID())" })
    do throws(StorageError) {
      try await store.setHooks(outbox, at: environment.now, waitMax: HookSchedule.waitMax)
    } catch {
      // A read-only copy writes nothing that hooks could be called about.
      guard error != .readOnly else { return }
      logger.error(
        "hooks are not called: the outbox cannot be written", metadata: ["cause": "\(error)"])
      return
    }
    for removed in ((try? await backlogs()).map { removed($0) }) ?? [] {
      logger.warning(
        "events wait for a hook that is not in the settings any more: they are dropped after three days",
        metadata: ["hook": "\(removed.name)", "events": "\(removed.pending)"])
    }
  }

  /// Starts delivering, the events of earlier starts first.
  package func start() {
    tasks.withLock { tasks in
      tasks = workers.values.map { worker in Task.detached { await worker.run() } }
      tasks.append(Task.detached { await self.sweep() })
    }
  }

  /// Cancels requests in progress, and returns once all tasks have ended. What was not delivered stays in
  /// the outbox.
  package func end() async {
    let tasks = tasks.withLock { $0 }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    for meters in meters.values { meters.reportDropped() }
  }

  /// Notes a commit.
  package func note(_ report: CommitReport) {
    guard !report.hookEvents.isEmpty else { return }
    for hook in report.hookEvents.added.keys { workers[hook]?.noteEvents() }
    for (hook, count) in report.hookEvents.dropped {
      meters[hook]?.noteDropped(count, .full, at: environment.now)
    }
  }

  /// Drops events that are too old, also of hooks that are not in the settings any more.
  private func sweep() async {
    while !Task.isCancelled {
      let moment = environment.now.advanced(by: .zero - HookSchedule.lifetime)
      var dropped: [String: Int] = [:]
      do throws(StorageError) {
        dropped = try await store.dropHookEvents(createdBefore: moment, limit: Self.sweepMax)
      } catch {
        if error == .closed { return }
      }
      for (hook, count) in dropped { noteExpired(count, of: hook) }
      for meters in meters.values { meters.reportDropped() }
      if dropped.values.reduce(0, +) < Self.sweepMax {
        do { try await environment.sleep(Self.sweepInterval) } catch { return }
      }
    }
  }

  private func noteExpired(_ count: Int, of hook: String) {
    if let meters = meters[hook] {
      return meters.noteDropped(count, .expired, at: environment.now)
    }
    logger.warning(
      "events for a hook that is not in the settings any more were dropped",
      metadata: ["hook": "\(hook)", "dropped": .stringConvertible(count)])
  }

  // MARK: Operators

  /// Returns all hooks, in the order of the settings, and by name the hooks with undelivered events that are
  /// not called after anything any more.
  package func overview() async throws(Failure) -> (hooks: [Summary], removed: [Removed]) {
    let backlogs = try await backlogs()
    let summaries = hooks.map { hook in
      let hasOutbox = hook.moment == .after
      return Summary(
        hook: hook, counts: meters[hook.name]?.counts ?? HookCallCounts(),
        pending: hasOutbox ? backlogs[hook.name]?.events ?? 0 : nil,
        pendingBytes: hasOutbox ? backlogs[hook.name]?.bytes ?? 0 : nil)
    }
    return (summaries, removed(backlogs))
  }

  private func removed(_ backlogs: [String: HookBacklog]) -> [Removed] {
    backlogs.filter { workers[$0.key] == nil }.sorted { $0.key < $1.key }
      .map { Removed(name: $0.key, pending: $0.value.events, pendingBytes: $0.value.bytes) }
  }

  private func backlogs() async throws(Failure) -> [String: HookBacklog] {
    do throws(StorageError) {
      return try await store.hookBacklogs()
    } catch {
      throw Failure(
        .storageUnavailable, "The outbox of hooks cannot be read; retry later.", retry: .after,
        cause: "\(error)")
    }
  }

  /// Updates the gauges of undelivered events.
  package func refreshGauges() async {
    guard let backlogs = try? await backlogs() else { return }
    for name in workers.keys { meters[name]?.notePending(backlogs[name]?.events ?? 0) }
  }
}
