import Model
import SyncScheduler
import Testing

struct QueueClockTests {
  static let wall = Timestamp(milliseconds: 1_700_000_000_000)

  @Test("Queue time advances regardless of the wall clock")
  func advancesMonotonically() {
    let clock = QueueClock(wall: Self.wall, reading: .seconds(5))
    #expect(clock.now(reading: .seconds(5)) == Self.wall)
    #expect(clock.now(reading: .seconds(65)) == Self.wall.advanced(by: .seconds(60)))
    #expect(clock.now(reading: .seconds(4)) == Self.wall)
  }

  @Test("A wall-clock time is equally far away in queue time")
  func convertsWallTime() {
    let clock = QueueClock(wall: Self.wall, reading: .zero)
    let setBack = Self.wall.advanced(by: .seconds(-86_400))
    let wanted = setBack.advanced(by: .seconds(600))
    #expect(
      clock.time(ofWall: wanted, wall: setBack, reading: .seconds(10))
        == Self.wall.advanced(by: .seconds(610)))
  }
}
