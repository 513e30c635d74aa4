import Testing

@testable import Transport

#if DEBUG
  /// What the watch on event loops reports of a step, by the clocks before and after it.
  struct LoopWatchTests {
    private static func reading(
      wall: Int64, cpu: Int, waits: Int = 0, preemptions: Int = 0
    ) -> LoopWatch.Reading {
      LoopWatch.Reading(
        wall: LoopInstant(nanoseconds: UInt64(wall) * 1_000_000), cpu: .milliseconds(cpu),
        waits: waits, preemptions: preemptions)
    }

    @Test(
      "Steps that block the loop are reported",
      arguments: [
        // Milliseconds by the wall and of CPU time, waits, preemptions.
        (1, 1, 0, 0, false),
        (60, 60, 0, 0, true),
        (60, 60, 0, 9, true),
        (500, 10, 0, 3, false),
        (500, 10, 1, 0, true),
        // Preemption looks like waiting.
        (500, 10, 1, 1, false),
        (40, 10, 5, 0, false),
      ])
    func longStepsAreReported(
      wall: Int64, cpu: Int, waits: Int, preemptions: Int, isReported: Bool
    ) {
      let finding = LoopWatch.finding(
        "event", from: Self.reading(wall: 0, cpu: 0),
        to: Self.reading(wall: wall, cpu: cpu, waits: waits, preemptions: preemptions))
      #expect((finding != nil) == isReported)
      if let finding { #expect(finding.contains("a loop's event took")) }
    }
  }
#endif
