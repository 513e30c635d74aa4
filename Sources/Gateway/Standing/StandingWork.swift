package import Logging
package import Model
import Synchronization
import Upstream

/// The clocks, chance and log of standing subscriptions and polls.
package struct StandingEnvironment: Sendable {
  let clock: WallClock
  let uptime: @Sendable () -> Duration
  let random: @Sendable () -> Double
  let sleep: @Sendable (Duration) async throws -> Void
  let logger: Logger

  /// - Parameters:
  ///   - uptime: a monotonic clock.
  ///   - random: returns numbers from 0 up to, but not including, 1.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    clock: WallClock, uptime: @escaping @Sendable () -> Duration,
    random: @escaping @Sendable () -> Double,
    sleep: @escaping @Sendable (Duration) async throws -> Void, logger: Logger
  ) {
    self.clock = clock
    self.uptime = uptime
    self.random = random
    self.sleep = sleep
    self.logger = logger
  }
}

/// What keeps stored data up to date while no client asks: the standing subscriptions and the polls of
/// settings.
package final class StandingWork: Sendable {
  private let subscriptions: [StandingSubscription]
  private let polls: [UpstreamPoll]
  let meters: StandingMeters
  private let tasks = Mutex<[Task<Void, Never>]>([])

  package init(
    subscriptions: [StandingPlan], polls: [PollPlan], hub: SubscriptionHub, pull: EntityPull,
    environment: StandingEnvironment
  ) {
    let meters = StandingMeters(operations: subscriptions.map(\.operation.name))
    self.subscriptions = subscriptions.map {
      StandingSubscription($0, hub: hub, pull: pull, meters: meters, environment: environment)
    }
    self.meters = meters
    self.polls = polls.map { UpstreamPoll($0, pull: pull, environment: environment) }
  }

  /// Begins the work; to be called once.
  package func start() {
    let started =
      subscriptions.map { subscription in Task.detached { await subscription.run() } }
      + polls.map { poll in Task.detached { await poll.run() } }
    tasks.withLock { $0 = started }
  }

  /// Ends the work, and returns when nothing of it is in progress.
  package func end() async {
    let started = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in started { task.cancel() }
    for subscription in subscriptions { subscription.end() }
    for task in started { await task.value }
  }

  /// The states of the standing subscriptions, in the order of settings.
  package var standing: [StandingStatus] { subscriptions.map(\.status) }

  /// The states of the polls, in the order of settings.
  package var polling: [PollStatus] { polls.map(\.status) }
}
