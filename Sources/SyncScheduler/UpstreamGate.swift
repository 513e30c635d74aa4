package import Model

/// The admission control of one upstream: a limit on requests in flight, periodic probes during an
/// outage, and a slow start after it.
///
/// Forced mutations have a limit of their own of the same size and ignore outages: a caller waits for
/// each of them.
struct UpstreamGate: Hashable, Sendable {
  /// Limit of requests in flight, for ordinary and forced mutations each.
  let concurrencyMax: Int
  private(set) var ordinary = 0
  private(set) var forced = 0
  /// How many ordinary mutations can be in flight: one after an outage, doubled with each response, so
  /// that a backlog of hours is not sent at once.
  private var allowance: Int
  private var availability = AvailabilityGate()

  /// Consecutive failures after which it counts as unavailable: otherwise each waiting device would find
  /// out for itself, and an overloaded upstream would get no relief.
  static let failuresMax = 32

  /// The minimum time between the end of a failed probe and the next.
  private static let probePause = Duration.milliseconds(500)

  init(concurrencyMax: Int) {
    self.concurrencyMax = max(1, concurrencyMax)
    allowance = self.concurrencyMax
  }

  var isAway: Bool { !availability.isAvailable }

  /// When it last completed a request, see
  /// ``DeviceQueue/settling(_:as:othersSucceeded:at:using:)``.
  var lastSucceeded: Timestamp? { availability.lastSuccess }

  /// When the next probe can be sent; nil if none is waiting for its time.
  var nextProbe: Timestamp? { ordinary < concurrencyMax ? availability.nextProbe : nil }

  func admits(isForced: Bool, at now: Timestamp) -> Bool {
    if isForced { return forced < concurrencyMax }
    return ordinary < (isAway ? concurrencyMax : allowance) && availability.admits(at: now)
  }

  mutating func start(isForced: Bool, at now: Timestamp) {
    if isForced {
      forced += 1
    } else {
      ordinary += 1
      availability.start(at: now)
    }
  }

  /// Ends an attempt.
  ///
  /// - Parameter outcome: nil if nothing was sent after all.
  mutating func end(
    isForced: Bool, as outcome: SendOutcome?, at now: Timestamp, probe: Duration
  ) {
    if isForced { forced -= 1 } else { ordinary -= 1 }
    guard let outcome, let judged = outcome.availability else {
      return availability.cancelStart(at: now)
    }
    availability.record(
      judged, at: now,
      rules: AvailabilityGate.Rules(
        failuresMax: Self.failuresMax, firstPause: probe, nextPause: Self.probePause,
        probeInterval: probe))
    if isAway {
      allowance = 1
    } else if outcome.wasAnswered {
      allowance = min(allowance * 2, concurrencyMax)
    }
  }

  /// Records a completed request, of the queue or another part.
  mutating func succeeded(at now: Timestamp) {
    availability.succeeded(at: now)
  }
}

/// The outcome of an attempt, by how the queue continues.
package enum SendOutcome: Hashable, Sendable {
  /// Upstream applied it, or the verify query found that it had.
  ///
  /// `created` maps the temporary ids it creates to the entities of the response.
  case applied(created: [TemporaryID: EntityKey])
  /// Nothing was sent. `isAway`: name resolution, connection, TLS or circuit breaker failed, so the
  /// queue waits for upstream; otherwise this server was busy.
  case notSent(isAway: Bool)
  /// 401, or 403 for an expired token.
  case authRefused
  /// Nothing was sent: the credential is not encrypted with this process's key.
  case credentialUnreadable
  /// 401 for a request without a credential: no token of the device would change that.
  case anonymousRefused
  /// 408, 425, 429, 502–504 and codes in settings.
  case transient(retryAfter: Duration?)
  /// Nothing was sent: the current operations have no such mutation, or its variables do not fit.
  case operationChanged
  /// Nothing was sent: the mutations that were to create what it names have ended without doing so.
  case dependencyMissing
  /// Another status below 500, GraphQL validation and user errors.
  case permanent
  /// Sent, and the result is unknown: no response, an unreadable one, or a 5xx that is not transient.
  case unknown
  /// The verify query found that the last attempt had no effect.
  case foundMissing

  /// Whether a response came, so that upstream is reachable.
  var wasAnswered: Bool {
    switch self {
    case .applied, .authRefused, .anonymousRefused, .transient, .permanent, .foundMissing: true
    case .notSent, .credentialUnreadable, .operationChanged, .dependencyMissing, .unknown: false
    }
  }
}

extension SendOutcome {
  /// What it says about upstream; nil if the attempt was not made.
  fileprivate var availability: AvailabilityGate.Outcome? {
    switch self {
    case .applied: .success
    case .permanent, .authRefused, .anonymousRefused, .foundMissing: .refusal
    case .transient: .failure(isResponse: true)
    case .unknown: .failure(isResponse: false)
    case .notSent(isAway: true): .unreachable
    case .notSent(isAway: false): .nothingSent
    case .operationChanged, .dependencyMissing, .credentialUnreadable: nil
    }
  }
}
