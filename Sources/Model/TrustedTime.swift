/// The time by which everything expires, protected against jumps of the wall clock.
///
/// The wall clock is trusted as long as it advances with a monotonic clock. A jump, while the service
/// runs or while it was down, is trusted only after it has lasted for a while: until then time
/// continues from where it was, so that a clock that is wrong for a moment expires nothing.
package struct TrustedTime: Hashable, Sendable {
  /// What comparing the clocks found.
  package enum Finding: Hashable, Sendable {
    /// The wall clock is not where it was expected, and not trusted yet.
    case jumped(expected: Timestamp, wall: Timestamp)
    /// The wall clock was consistent for long enough: time continues from there.
    case believed(Timestamp)
    /// The wall clock is back where it was expected.
    case mended
  }

  private struct Doubt: Hashable, Sendable {
    let wall: Timestamp
    let reading: Duration
  }

  /// The largest correction (by NTP) that does not count as a jump.
  private static let tolerance = Duration.seconds(60)

  private var time: Timestamp
  private var reading: Duration
  private var doubt: Doubt?
  private let trust: Duration

  /// - Parameters:
  ///   - newest: the last trusted time that was recorded; nil if there is none.
  ///   - reading: of a monotonic clock.
  ///   - trust: how long a jump must last to be trusted. A downtime of up to as long raises no doubt.
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

  /// The jump that is in doubt; nil while the wall clock is trusted.
  package var doubted: Finding? {
    doubt.map { .jumped(expected: time, wall: $0.wall) }
  }

  /// Advances the time.
  ///
  /// - Returns: the time to expire by, and any new finding about the wall clock.
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
