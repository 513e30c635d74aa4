/// Queue time: the wall clock as it was when the server started, carried on by a clock that nobody
/// can set.
///
/// Due times are stored in it. A wall clock that is set back or forward while the server runs
/// neither stalls nor rushes a wait; what was stored before a start is cut to the longest wait there
/// is, see ``DeviceQueue/recovering(boot:at:policy:using:)``.
package struct QueueClock: Hashable, Sendable {
  private let start: Timestamp
  private let startReading: Duration

  /// - Parameter reading: of a clock that only runs forward, from any beginning.
  package init(wall: Timestamp, reading: Duration) {
    start = wall
    startReading = reading
  }

  package func now(reading: Duration) -> Timestamp {
    start.advanced(by: max(.zero, reading - startReading))
  }

  /// A time that a client named by the wall clock, in queue time: as far from now as it is there.
  package func time(ofWall wanted: Timestamp, wall: Timestamp, reading: Duration) -> Timestamp {
    now(reading: reading).advanced(
      by: .milliseconds(wanted.milliseconds - wall.milliseconds))
  }
}
