import Model
import Testing

struct TimestampTests {
  @Test("Elapsed time is never negative")
  func elapsedIsNeverNegative() {
    let early = Timestamp(milliseconds: 1_000)
    let late = Timestamp(milliseconds: 2_500)
    #expect(early.elapsed(until: late) == .milliseconds(1_500))
    #expect(late.elapsed(until: early) == .zero)
  }

  @Test("Advancing saturates at the first and the last timestamp")
  func movingIsHeldAtTheEnds() {
    let now = Timestamp(milliseconds: 1_790_000_000_000)
    let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
    for seconds in [Int64.max, Int64.max / 1000, Int64.max / 1000 - 1, Int64.max / 2] {
      #expect(now.advanced(by: .seconds(seconds)) > now)
      #expect(now.advanced(by: .seconds(-seconds)) < now)
      #expect(last.advanced(by: .seconds(seconds)) == last)
      #expect(first.advanced(by: .seconds(-seconds)) == first)
      #expect(Duration.seconds(seconds).milliseconds <= Int64.max / 2)
    }
    #expect(first.elapsed(until: last) == .milliseconds(Int64.max))
    #expect(last.elapsed(until: first) == .zero)
  }

  @Test(
    "Durations are whole milliseconds, saturating",
    arguments: [
      (Duration.milliseconds(1), 1 as Int64), (.seconds(2), 2_000), (.microseconds(1_999), 1),
      (.seconds(Int64.max), Int64.max / 2), (.milliseconds(-5), -5),
    ])
  func durationsAreWholeMilliseconds(duration: Duration, expected: Int64) {
    #expect(duration.milliseconds == expected)
  }
}
