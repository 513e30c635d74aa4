package import Model
import Upstream

/// A part of the service that wants a subscription while no client listens. It is notified of gaps before
/// the events that follow them are stored.
protocol SubscriptionKeeper: AnyObject, Sendable {
  /// The connection was lost: events may be missed from now on.
  ///
  /// - Parameter failure: nil if the connection is there, but an event could not be stored.
  func interrupted(_ failure: UpstreamFailure?) async

  /// Upstream runs the subscription, again or for the first time.
  ///
  /// - Parameter afterGap: whether events may have been lost since the keeper heard of it last.
  func established(afterGap: Bool) async
}

/// How a shared subscription ended.
enum SubscriptionEnding: Sendable {
  case completed
  case failed(Failure)
  /// It is not wanted any more, or the service ends.
  case left

  /// The reason for operators.
  var cause: String {
    switch self {
    case .completed: "upstream completed it"
    case .failed(let failure): failure.cause ?? failure.message
    case .left: "it was closed"
    }
  }
}

/// The state of a shared subscription, for operators.
package struct SubscriptionStatus: Sendable {
  package enum Phase: String, Sendable {
    /// Upstream has not confirmed it yet.
    case connecting
    case live
    /// The connection was lost and is being made again.
    case interrupted
  }

  package let upstream: UpstreamName
  package let key: ResultKey
  package let phase: Phase
  package let clients: Int
  /// Whether settings keep it open.
  package let isStanding: Bool
  package let events: Int
  package let gaps: Int
  /// Why the connection was lost last; nil if it never was.
  package let lastInterruption: String?
}
