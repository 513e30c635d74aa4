import Model
import Testing

struct TimestampTests {
  @Test func elapsedIsNeverNegative() {
    let early = Timestamp(milliseconds: 1_000)
    let late = Timestamp(milliseconds: 2_500)
    #expect(early.elapsed(until: late) == .milliseconds(1_500))
    #expect(late.elapsed(until: early) == .zero)
  }

  @Test(arguments: [
    (Duration.milliseconds(1), 1 as Int64), (.seconds(2), 2_000), (.microseconds(1_999), 1),
    (.seconds(Int64.max), Int64.max / 2), (.milliseconds(-5), -5),
  ])
  func durationsAreWholeMilliseconds(duration: Duration, expected: Int64) {
    #expect(duration.milliseconds == expected)
  }
}
