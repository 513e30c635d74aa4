import Model
import TestSupport
import Testing

/// The effect of wall-clock jumps on the time by which everything expires.
struct TrustedTimeTests {
  private static let hour = Duration.seconds(3_600)
  private static let day = hour * 24
  private static let start = Timestamp(milliseconds: 1_700_000_000_000)

  /// A service with an adjustable wall clock.
  private struct World {
    var time: TrustedTime
    var reading = Duration.zero
    var offset: Duration
    var findings: [TrustedTime.Finding] = []

    init(newest: Timestamp? = start, offset: Duration = .zero) {
      self.offset = offset
      time = TrustedTime(
        newest: newest, wall: start.advanced(by: offset), reading: .zero, trust: hour)
    }

    var wall: Timestamp { start.advanced(by: reading + offset) }

    /// Advances in steps of the maintenance interval.
    mutating func pass(_ duration: Duration) -> Timestamp {
      var left = duration
      var now = start
      repeat {
        let step = min(left, .seconds(300))
        reading += step
        left -= step
        let (time, finding) = time.observe(wall: wall, reading: reading)
        now = time
        if let finding { findings.append(finding) }
      } while left > .zero
      return now
    }
  }

  @Test("Time follows small corrections of the wall clock")
  func followsSmallCorrections() {
    var world = World()
    for correction in [Duration.seconds(1), .seconds(-2), .seconds(59), .seconds(-58)] {
      world.offset += correction
      #expect(world.pass(Self.hour) == world.wall)
    }
    #expect(world.findings.isEmpty)
  }

  @Test(
    "A jump is not trusted before it has lasted for an hour", arguments: [366, 181, 1, -366, -1])
  func doubtsJumps(days: Int) {
    var world = World()
    _ = world.pass(Self.hour)
    world.offset = Self.day * days
    let last = world.pass(Self.hour - .seconds(1))
    #expect(last == Self.start.advanced(by: Self.hour * 2 - .seconds(1)))
    #expect(world.findings.count == 1)
    #expect(world.pass(.seconds(600)) == world.wall)
    #expect(world.findings.last == .believed(world.wall))
  }

  @Test("A clock that is corrected within the hour has no effect")
  func mends() {
    var world = World()
    world.offset = Self.day * 366
    _ = world.pass(.seconds(3_000))
    world.offset = .zero
    #expect(world.pass(.seconds(300)) == world.wall)
    #expect(world.findings.last == .mended)
    // The next jump starts a new doubt.
    world.offset = Self.day * 366
    #expect(world.pass(.seconds(3_000)) == Self.start.advanced(by: .seconds(6_300)))
  }

  @Test("A start continues from the last recorded time", arguments: [366, 2, -366])
  func doubtsAtStart(days: Int) {
    var world = World(offset: Self.day * days)
    #expect(world.time.doubted != nil)
    #expect(world.pass(.seconds(3_000)) == Self.start.advanced(by: .seconds(3_000)))
    #expect(world.pass(.seconds(1_200)) == world.wall)
  }

  @Test("A short downtime is trusted, and so is the first start")
  func believesShortAbsences() {
    #expect(World(offset: Self.hour).time.doubted == nil)
    #expect(World(newest: nil, offset: Self.day * 366).time.doubted == nil)
  }

  @Test("A clock that jumps repeatedly is never trusted", arguments: 1...20)
  func doubtsRestlessClocks(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var world = World()
    for jump in 0..<50 {
      world.offset = Self.day * (2 + jump)
      let time = world.pass(.seconds(Int.random(in: 1...3_500, using: &random)))
      #expect(time == Self.start.advanced(by: world.reading))
    }
  }
}
