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
        // Milliseconds by the wall and of CPU time, waits, preemptions; the reported waits.
        (1, 1, 0, 0, nil),
        (60, 60, 0, 0, 0),
        (60, 60, 0, 9, 0),
        (500, 10, 0, 3, nil),
        (500, 10, 1, 0, 1),
        // Preemption looks like waiting.
        (500, 10, 1, 1, nil),
        (500, 60, 1, 1, 0),
        (40, 10, 5, 0, nil),
        // Short waits.
        (116, 81, 1, 0, 0),
      ] as [(Int64, Int, Int, Int, Int?)])
    func longStepsAreReported(
      wall: Int64, cpu: Int, waits: Int, preemptions: Int, reported: Int?
    ) {
      let finding = LoopWatch.finding(
        "event", from: Self.reading(wall: 0, cpu: 0),
        to: Self.reading(wall: wall, cpu: cpu, waits: waits, preemptions: preemptions))
      #expect((finding != nil) == (reported != nil))
      if let finding, let reported {
        #expect(finding.contains("a loop's event took"))
        #expect(finding.hasSuffix("waited \(reported) times\n"))
      }
    }
  }
#endif
