import Logging
import LosslessJSON
import Metrics
package import Model
import Synchronization
import Upstream

/// Repeats one query of settings, one call at a time.
///
/// It continues by the newest value that its own responses brought: what other reads store in between can
/// be newer than a change that the poll has not seen. While the circuit breaker is open it waits, and goes
/// on when the breaker admits a call; after failures the pauses grow.
final class UpstreamPoll: Sendable {
  /// The longest pause after failures, unless the interval is longer.
  private static let pauseMax = Duration.seconds(60)
  /// How soon, and after how long at the latest, an open circuit breaker is asked again.
  private static let breakerPauses = Duration.milliseconds(100)...Duration.seconds(30)

  private struct State {
    var polls = 0
    var isPaused = false
    var lastSuccess: Timestamp?
    var lastFailure: Failure?
  }

  private let plan: PollPlan
  private let pull: EntityPull
  private let environment: StandingEnvironment
  private let state = Mutex(State())
  private let succeeded: Counter
  private let failed: Counter

  init(_ plan: PollPlan, pull: EntityPull, environment: StandingEnvironment) {
    self.plan = plan
    self.pull = pull
    self.environment = environment
    let operation = plan.query.operation.name
    succeeded = Counter(
      label: "larder.polls", dimensions: [("operation", operation), ("outcome", "success")])
    failed = Counter(
      label: "larder.polls", dimensions: [("operation", operation), ("outcome", "failure")])
  }

  var status: PollStatus {
    state.withLock { state in
      PollStatus(
        upstream: plan.query.operation.upstream, operation: plan.query.operation.name,
        every: plan.every, polls: state.polls, isPaused: state.isPaused,
        lastSuccess: state.lastSuccess, lastFailure: state.lastFailure)
    }
  }

  /// Polls until cancelled.
  func run() async {
    var newest = try? await pull.newestStored(for: plan.query)
    var failures = 0
    var pause = plan.every * environment.random()
    while true {
      do { try await environment.sleep(pause) } catch { return }
      if Task.isCancelled { return }
      let refusal = pull.refusal(of: plan.query)
      state.withLock { $0.isPaused = refusal != nil }
      if let refusal {
        pause = self.pause(whileRefused: refusal)
        continue
      }
      do throws(Failure) {
        newest = NewestValue.later(newest, try await pull.pull(plan.query, after: newest))
        failures = 0
        note(nil)
      } catch {
        failures += 1
        note(error)
      }
      pause = self.pause(after: failures)
    }
  }

  /// Within a tenth of the interval, so that the polls of several processes do not coincide.
  private func pause(after failures: Int) -> Duration {
    let jitter = 0.9 + 0.2 * environment.random()
    let longest = max(plan.every, Self.pauseMax)
    return min(longest, plan.every * (1 << min(failures, 10))) * jitter
  }

  /// Until the breaker can admit a call. The polls of one upstream do not all ask at the same time; the
  /// first one is its probe.
  private func pause(whileRefused refusal: Duration) -> Duration {
    let bounds = Self.breakerPauses
    return min(max(refusal, bounds.lowerBound), bounds.upperBound)
      * (1 + 0.1 * environment.random())
  }

  private func note(_ failure: Failure?) {
    let hadFailed = state.withLock { state in
      defer { state.lastFailure = failure }
      state.polls += 1
      if failure == nil { state.lastSuccess = environment.clock.now() }
      return state.lastFailure != nil
    }
    (failure == nil ? succeeded : failed).increment()
    guard hadFailed != (failure != nil) else { return }
    var metadata: Logger.Metadata = [
      "operation": "\(plan.query.operation.name)",
      "upstream": "\(plan.query.operation.upstream)",
    ]
    guard let failure else {
      environment.logger.warning("a poll succeeds again", metadata: metadata)
      return
    }
    metadata["code"] = "\(failure.code.rawValue)"
    metadata["cause"] = "\(failure.cause ?? failure.message)"
    environment.logger.warning("a poll failed; it is repeated", metadata: metadata)
  }
}

/// The state of a poll, for operators.
package struct PollStatus: Sendable {
  package let upstream: UpstreamName
  package let operation: String
  package let every: Duration
  package let polls: Int
  /// Whether it waits for the circuit breaker of its upstream.
  package let isPaused: Bool
  package let lastSuccess: Timestamp?
  /// Nil if the last poll succeeded.
  package let lastFailure: Failure?
}
