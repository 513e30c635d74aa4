import TestSupport
import Testing

@testable import Transport

struct TimerTests {
  @Test(
    "A thousand timers fire in order and never early",
    arguments: [1, 2, 3] as [UInt64])
  func thousandTimersFireInOrderAndNeverEarly(seed: UInt64) async throws {
    try await withLoops(1) { group in
      let recorder = FiringRecorder()
      await group.reactors[0].run { reactor in
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
          recorder.add(.microseconds(Int.random(in: 0..<150_000, using: &generator)), on: reactor)
        }
      }
      #expect(await eventuallyHolds { recorder.fired.count == 1000 })
      let fired = recorder.fired
      #expect(fired.allSatisfy { $0.at >= $0.due }, "seed \(seed)")
      #expect(zip(fired, fired.dropFirst()).allSatisfy { $0.due <= $1.due }, "seed \(seed)")
    }
  }

  @Test("A moved timer fires once, at its new time")
  func movedTimerFiresOnceAtItsNewTime() async throws {
    try await withLoops(1) { group in
      let recorder = FiringRecorder()
      let reactor = group.reactors[0]
      let target = await reactor.run { reactor in
        recorder.add(.milliseconds(5), on: reactor)
        let target = reactor.now + .milliseconds(60)
        recorder.timer(0)?.set(target)
        return target
      }
      #expect(await eventuallyHolds { !recorder.fired.isEmpty })
      #expect(recorder.fired[0].at >= target)
      let later = LoopClock.now() + .milliseconds(20)
      _ = await eventuallyHolds { LoopClock.now() > later }
      #expect(recorder.fired.count == 1)
    }
  }

  @Test("A timer moved to an earlier time fires earlier")
  func timerMovedEarlierFiresEarlier() async throws {
    try await withLoops(1) { group in
      let recorder = FiringRecorder()
      await group.reactors[0].run { reactor in
        recorder.add(.seconds(60), on: reactor)
        recorder.timer(0)?.set(after: .milliseconds(5))
      }
      #expect(await eventuallyHolds { recorder.fired.count == 1 })
    }
  }

  @Test("A cancelled timer does not fire and leaves the heap")
  func cancelledTimerDoesNotFireAndLeavesTheHeap() async throws {
    try await withLoops(1) { group in
      let recorder = FiringRecorder()
      let reactor = group.reactors[0]
      await reactor.run { reactor in
        recorder.add(.milliseconds(5), on: reactor)
        recorder.add(.milliseconds(25), on: reactor)
        recorder.timer(0)?.cancel()
      }
      #expect(await eventuallyHolds { recorder.fired.count == 1 })
      #expect(await reactor.run { $0.core.timers.earliest } == nil)
      #expect(recorder.fired.count == 1)
    }
  }

  @Test(
    "The timer heap agrees with a sorted array",
    arguments: 0..<8 as Range<UInt64>)
  func heapAgreesWithASortedArray(seed: UInt64) async throws {
    try await withLoops(1) { group in
      await group.reactors[0].run { reactor in
        var generator = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var model: [ObjectIdentifier: UInt64] = [:]
        let delegate = NoDelegate()
        let timers = (0..<50).map { _ in LoopTimer(delegate: delegate, on: reactor) }
        for _ in 0..<2000 {
          let timer = timers[Int.random(in: 0..<50, using: &generator)]
          if Bool.random(using: &generator) {
            let time = UInt64.random(in: 1..<1000, using: &generator)
            heap.schedule(timer, for: LoopInstant(nanoseconds: time))
            model[ObjectIdentifier(timer)] = time
          } else {
            heap.remove(timer)
            model[ObjectIdentifier(timer)] = nil
          }
          #expect(heap.earliest?.nanoseconds == model.values.min(), "seed \(seed)")
        }
      }
    }
  }

  @Test(
    "Instants saturate at the ends of the clock",
    arguments: [
      (LoopInstant(nanoseconds: 10), Duration.nanoseconds(5), 15 as UInt64),
      (LoopInstant(nanoseconds: 10), .nanoseconds(-5), 5),
      (LoopInstant(nanoseconds: 10), .seconds(-5), 0),
      (LoopInstant(nanoseconds: 10), .seconds(Int64.max), .max),
      (LoopInstant.distantFuture, .seconds(1), .max),
    ])
  func instantsSaturate(start: LoopInstant, step: Duration, expected: UInt64) {
    #expect((start + step).nanoseconds == expected)
  }
}

private final class NoDelegate: TimerDelegate {
  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {}
}
