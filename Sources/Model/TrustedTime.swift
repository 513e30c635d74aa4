/// The time that a service has lived through: what everything expires by.
///
/// The wall clock is believed for as long as it goes on as a clock does that nobody can set. A jump of
/// it, while the service runs or while it was down, is believed only once it has held for a while:
/// until then time goes on from where it was, so that a clock that is wrong for a moment makes nothing
/// old.
package struct TrustedTime: Hashable, Sendable {
  /// What a look at the clocks found.
  package enum Finding: Hashable, Sendable {
    /// The wall clock is somewhere else than expected, and not believed yet.
    case jumped(expected: Timestamp, wall: Timestamp)
    /// The wall clock held for long enough: time goes on from there.
    case believed(Timestamp)
    /// The wall clock is back where it was expected.
    case mended
  }

  private struct Doubt: Hashable, Sendable {
    let wall: Timestamp
    let reading: Duration
  }

  /// Corrections that a clock gets from others (NTP) and that are no jumps.
  private static let tolerance = Duration.seconds(60)

  private var time: Timestamp
  private var reading: Duration
  private var doubt: Doubt?
  private let trust: Duration

  /// - Parameters:
  ///   - newest: until when the service had lived when it was last heard of; nil where that is unknown.
  ///   - reading: of a clock that only runs forward.
  ///   - trust: for how long a jump must hold. A service may have been down for as long without a
  ///     doubt.
  package init(newest: Timestamp?, wall: Timestamp, reading: Duration, trust: Duration) {
    self.reading = reading
    self.trust = trust
    let away = newest?.distance(to: wall) ?? .zero
    if let newest, away > max(trust, Self.tolerance) || away < .zero - Self.tolerance {
      time = newest
      doubt = Doubt(wall: wall, reading: reading)
    } else {
      time = wall
    }
  }

  /// The jump that is in doubt; nil where the wall clock is believed.
  package var doubted: Finding? {
    doubt.map { .jumped(expected: time, wall: $0.wall) }
  }

  /// Carries the time on.
  ///
  /// - Returns: the time to expire by, and what is new about the wall clock.
  package mutating func observe(
    wall: Timestamp, reading now: Duration
  ) -> (time: Timestamp, finding: Finding?) {
    let expected = time.advanced(by: max(.zero, now - reading))
    reading = max(reading, now)
    if Self.isNear(wall, expected) {
      time = wall
      defer { doubt = nil }
      return (time, doubt == nil ? nil : .mended)
    }
    time = expected
    guard let doubt, Self.isNear(wall, doubt.wall.advanced(by: now - doubt.reading)) else {
      doubt = Doubt(wall: wall, reading: now)
      return (time, .jumped(expected: expected, wall: wall))
    }
    guard now - doubt.reading >= trust else { return (time, nil) }
    time = wall
    self.doubt = nil
    return (time, .believed(wall))
  }

  private static func isNear(_ one: Timestamp, _ other: Timestamp) -> Bool {
    let distance = one.distance(to: other)
    return distance <= tolerance && distance >= .zero - tolerance
  }
}
