package import Model
import Synchronization

/// A request that a replica serves, as far as the leader may have to take part in it.
///
/// Use cases note here that the leader must answer, in the task of the request. So the note is found when the
/// request is passed on, whatever their failure was turned into.
package final class LeaderRequest: Sendable {
  /// The request that the task serves; nil on a node that is not a replica.
  @TaskLocal package static var current: LeaderRequest?

  /// Whether the leader was asked and has not answered: the request is served as without one.
  let wasAsked: Bool
  private let needed = Atomic(false)
  /// Sends the same request to the leader and drops the response.
  private let repeated: @Sendable () async -> Void
  /// Tells the leader that the device used its token.
  private let presented: @Sendable () async -> Void

  /// - Parameters:
  ///   - repeated: sends the same request to the leader, with the credentials it came with, and drops the
  ///     response.
  ///   - presented: shows the leader the credentials of the request alone, for what it notes of callers.
  ///   - wasAsked: whether the leader was asked and has not answered.
  package init(
    wasAsked: Bool = false, repeated: @escaping @Sendable () async -> Void,
    presented: @escaping @Sendable () async -> Void
  ) {
    self.wasAsked = wasAsked
    self.repeated = repeated
    self.presented = presented
  }

  /// Whether only the leader can answer.
  package var isNeeded: Bool { needed.load(ordering: .relaxed) }

  func need() { needed.store(true, ordering: .relaxed) }

  /// Sends the same request to the leader, which refreshes what it answers with.
  func sendAgain() async { await repeated() }

  /// Shows the leader the credentials of the request.
  func present() async { await presented() }
}

extension LeaderLink {
  /// Whether the request of the current task can be passed on to the leader.
  package var canAsk: Bool { isAnswered && LeaderRequest.current?.wasAsked != true }

  /// Notes that only the leader can serve the request of the current task, and returns the failure with
  /// which the use case ends.
  package func need() -> Failure {
    LeaderRequest.current?.need()
    return canAsk ? .leaderNeeded : .leaderUnavailable
  }
}

extension Failure {
  /// The leader must answer. Clients see it only if the request cannot be passed on.
  package static let leaderNeeded = Failure(
    .leaderUnavailable, "Only the leader of the cluster serves this; retry later.", retry: .after,
    retryAfter: .seconds(1))

  /// The leader must answer, and there is none or it cannot be reached.
  package static let leaderUnavailable = Failure(
    .leaderUnavailable,
    "The cluster has no leader at the moment, or this node cannot reach it; retry later.",
    retry: .after, retryAfter: .seconds(1))
}
