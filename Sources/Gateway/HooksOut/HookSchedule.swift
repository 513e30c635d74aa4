import Model

/// Decides which events of one hook are delivered next, and what follows each attempt. Does no I/O; the
/// outbox holds the events, and for each entity the time at which its first event is due.
///
/// | response | what happens |
/// |---|---|
/// | 2xx | the event is removed |
/// | another status, or none after the request was sent | the entity waits, longer each time; others go on |
/// | the request could not be sent | all of the hook's events pause; then one is tried alone |
/// | any, ``lifetime`` after the event was written | the event is dropped |
struct HookSchedule {
  /// The maximum number of entities whose events are delivered concurrently.
  static let lanesMax = 4
  /// How long delivery of an event is attempted.
  static let lifetime = Duration.seconds(3 * 86_400)
  /// The longest wait after the first failure; it doubles with each further one.
  static let firstWait = Duration.seconds(5)
  /// The longest wait between two attempts, whatever the hook requests.
  static let waitMax = Duration.seconds(3_600)
  /// The pause of all events after a request could not be sent; it doubles up to ``pauseMax``.
  static let firstPause = Duration.seconds(1)
  static let pauseMax = Duration.seconds(60)
  private static let doublingsMax = 16

  enum Step: Hashable {
    /// Read that many due events from the outbox, and pass them to ``begin(_:besides:at:)`` with the
    /// lanes that were in flight when the reading began.
    case look(limit: Int, besides: Set<Int64>)
    /// Nothing can begin before the time, or before an attempt ends.
    case wait(until: Timestamp?)
  }

  /// The result of an attempt.
  enum Result: Hashable {
    case delivered
    case failed(retryAfter: Duration?)
    /// The hook has not received the request.
    ///
    /// - Parameter retryAfter: how long no request can be sent at least; nil if that is unknown.
    case notSent(retryAfter: Duration?)
  }

  private(set) var inFlight: Set<Int64> = []
  private var pausedUntil: Timestamp?
  /// Pauses since a request was sent last.
  private var pauses = 0

  var isPaused: Bool { pauses > 0 }

  func step(at now: Timestamp) -> Step {
    if let pausedUntil, now < pausedUntil { return .wait(until: pausedUntil) }
    guard free > 0 else { return .wait(until: nil) }
    // The outbox does not know which lanes are in flight: they are among those that are due.
    return .look(limit: free + inFlight.count, besides: inFlight)
  }

  private var free: Int { (isPaused ? 1 : Self.lanesMax) - inFlight.count }

  /// Returns the events to deliver now, or to drop if they have expired; their lanes are in flight until
  /// ``end(_:)``.
  mutating func begin(
    _ due: [HookEvent], besides earlier: Set<Int64>, at now: Timestamp
  ) -> [(event: HookEvent, hasExpired: Bool)] {
    var begun: [(event: HookEvent, hasExpired: Bool)] = []
    for event in due where !earlier.contains(event.lane) && free > 0 {
      guard inFlight.insert(event.lane).inserted else { continue }
      begun.append((event, event.created.elapsed(until: now) >= Self.lifetime))
    }
    return begun
  }

  /// Notes the result of an attempt. The lane stays in flight until ``end(_:)``, which follows once the
  /// outbox has the result.
  ///
  /// - Parameter chance: a random number from 0 to 1, uniformly distributed.
  /// - Returns: what to write to the outbox; nil for nothing.
  mutating func note(
    _ result: Result, of event: HookEvent, at now: Timestamp, chance: Double
  ) -> HookEventEnd? {
    switch result {
    case .delivered:
      resume()
      return .removed
    case .failed(let retryAfter):
      resume()
      let wait = Self.wait(after: event.attempts, chance: chance)
      let asked = min(retryAfter ?? .zero, Self.waitMax)
      return .waits(until: now.advanced(by: max(wait, asked)))
    case .notSent(let retryAfter):
      // Attempts that fail together are one outage.
      if let pausedUntil, now < pausedUntil { return nil }
      let pause = min(
        Self.firstPause * (1 << min(pauses, Self.doublingsMax)), Self.pauseMax)
      pauses += 1
      pausedUntil = now.advanced(by: min(max(pause, retryAfter ?? .zero), Self.waitMax))
      return nil
    }
  }

  mutating func end(_ event: HookEvent) { inFlight.remove(event.lane) }

  private mutating func resume() {
    pauses = 0
    pausedUntil = nil
  }

  /// Returns how long an entity waits after a failure: from half of the longest wait to all of it.
  static func wait(after attempts: Int, chance: Double) -> Duration {
    let longest = min(firstWait * (1 << min(attempts, doublingsMax)), waitMax)
    return longest * (0.5 + 0.5 * min(max(chance, 0), 1))
  }
}
