import Model
import Storage
import Synchronization
import Transport

/// Delivers the events of one hook: the schedule decides, the outbox keeps. What is in flight when the
/// process ends is delivered again after the next start, under the same `webhook-id`.
final class HookWorker: Sendable {
  /// The pause before a failed operation of the store is tried again.
  private static let storePause = Duration.seconds(1)

  let hook: OutgoingHook
  let meters: HookOutMeters
  private let store: Store
  private let exchange: HookExchange
  private let environment: PushEnvironment
  private let signal: AsyncSignal
  private let schedule = Mutex(HookSchedule())

  init(
    _ hook: OutgoingHook, store: Store, exchange: HookExchange, environment: PushEnvironment,
    meters: HookOutMeters
  ) {
    self.hook = hook
    self.store = store
    self.exchange = exchange
    self.environment = environment
    self.meters = meters
    signal = AsyncSignal(sleep: environment.sleep)
  }

  /// Notes that the outbox has new events.
  func noteEvents() { signal.notify() }

  /// Runs until cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        // Read first, so that events that arrive during the round are noticed.
        let seen = signal.count
        do throws(StorageError) {
          switch schedule.withLock({ $0.step(at: environment.now) }) {
          case .wait(let until): await wait(after: seen, until: until)
          case .look(let limit, let earlier):
            let due = try await store.dueHookEvents(
              of: hook.name, at: environment.now, limit: limit)
            let begun = schedule.withLock {
              $0.begin(due, besides: earlier, at: environment.now)
            }
            for (event, hasExpired) in begun {
              group.addTask { await self.process(event, hasExpired: hasExpired) }
            }
            if begun.isEmpty {
              let next = try await store.nextHookDue(of: hook.name, after: environment.now)
              await wait(after: seen, until: next)
            }
          }
        } catch {
          await pause(error)
        }
      }
    }
  }

  private func wait(after seen: UInt64, until time: Timestamp?) async {
    await signal.wait(
      after: seen, atMost: time.map { max(.milliseconds(1), environment.now.elapsed(until: $0)) })
  }

  /// Delivers an event, or drops it, and writes what follows.
  private func process(_ event: HookEvent, hasExpired: Bool) async {
    if hasExpired {
      if await settle(event, as: .removed) {
        meters.noteDropped(1, .expired, at: environment.now)
      }
    } else {
      let answer = await exchange.call(hook, id: event.id, body: event.body)
      // Cancelled because the service stops: the event stays in the outbox.
      if Task.isCancelled, answer != .accepted { return }
      note(answer)
      let end = schedule.withLock {
        $0.note(
          answer.result, of: event, at: environment.now, chance: environment.chance())
      }
      if let end { _ = await settle(event, as: end) }
    }
    schedule.withLock { $0.end(event) }
    signal.notify()
  }

  private func note(_ answer: HookExchange.Answer) {
    let now = environment.now
    switch answer {
    case .accepted: meters.note(.delivered, at: now)
    case .status, .unreadable, .none(wasSent: true, _, _):
      meters.note(.failed, reason: answer.reason, at: now)
    case .none:
      meters.note(.notSent, reason: answer.reason, isPause: answer.isPause, at: now)
    }
  }

  /// Writes the end of an attempt, retrying while the disk is full: otherwise the event would be delivered
  /// again at once.
  ///
  /// - Returns: whether the event was still in the outbox.
  private func settle(_ event: HookEvent, as end: HookEventEnd) async -> Bool {
    while true {
      do throws(StorageError) {
        return try await store.settle(event, as: end)
      } catch {
        if error == .closed || Task.isCancelled { return false }
        await pause(error)
      }
    }
  }

  private func pause(_ error: StorageError) async {
    if error != .closed { meters.note(error, at: environment.now) }
    try? await environment.sleep(Self.storePause)
  }
}

extension HookExchange.Answer {
  /// The result of the attempt to deliver an event.
  fileprivate var result: HookSchedule.Result {
    switch self {
    case .accepted: .delivered
    case .status(_, _, let retryAfter): .failed(retryAfter: retryAfter)
    case .none(wasSent: true, _, _), .unreadable: .failed(retryAfter: nil)
    case .none(wasSent: false, let retryAfter, _): .notSent(retryAfter: retryAfter)
    }
  }

  /// Whether the circuit breaker sent nothing because of earlier faults.
  var isPause: Bool {
    guard case .none(wasSent: false, let retryAfter, _) = self else { return false }
    return retryAfter != nil
  }

  /// Why it is not accepted, for operators.
  var reason: String {
    switch self {
    case .accepted: "accepted"
    case .status(let status, let detail, _):
      detail.map { "status \(status): \($0)" } ?? "status \(status)"
    case .none(_, _, let reason), .unreadable(let reason): reason
    }
  }
}
