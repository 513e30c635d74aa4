import Synchronization
import TestSupport
import Testing
import Transport

struct AsyncSignalTests {
  /// A sleep that never ends.
  private static let forever: @Sendable (Duration) async throws -> Void = { _ in
    throw CancellationError()
  }

  @Test("A signal before the wait ends the wait")
  func signalBeforeWait() async {
    let signal = AsyncSignal(sleep: Self.forever)
    let seen = signal.count
    signal.notify()
    await signal.wait(after: seen)
    #expect(signal.count == seen + 1)
    #expect(signal.waiterCount == 0)
  }

  @Test("One signal wakes all waiters")
  func oneSignalWakesAll() async {
    let signal = AsyncSignal(sleep: Self.forever)
    await withTaskGroup { group in
      for _ in 0..<8 {
        let seen = signal.count
        group.addTask { await signal.wait(after: seen, atMost: .seconds(60)) }
      }
      signal.notify()
      await group.waitForAll()
    }
    #expect(signal.count == 1)
    #expect(signal.waiterCount == 0)
  }

  @Test("Waiters that are all suspended are all woken")
  func wakesSuspendedWaiters() async {
    let signal = AsyncSignal(sleep: Self.forever)
    await withTaskGroup { group in
      for _ in 0..<1000 { group.addTask { await signal.wait() } }
      #expect(await eventuallyHolds { signal.waiterCount == 1000 })
      signal.notify()
      await group.waitForAll()
    }
    #expect(signal.waiterCount == 0)
  }

  @Test("A wait without a count ends with the first signal, and returns at once after it")
  func firstSignalIsLatched() async {
    let signal = AsyncSignal()
    async let early: Void = signal.wait()
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    signal.notify()
    await early
    await signal.wait()
    signal.notify()
    await signal.wait(ignoresCancellation: true)
    #expect(signal.count == 2)
  }

  @Test("A signal that the task has seen does not end its wait")
  func seenSignalDoesNotCount() async {
    let signal = AsyncSignal()
    signal.notify()
    let seen = signal.count
    let waiting = Task { await signal.wait(after: seen) }
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    signal.notify()
    await waiting.value
    #expect(signal.count == 2)
  }

  @Test("The time limit ends a wait")
  func timeLimitEndsWait() async {
    let signal = AsyncSignal(sleep: { _ in })
    await signal.wait(after: signal.count, atMost: .seconds(60))
    #expect(signal.count == 0)
    #expect(signal.waiterCount == 0)
  }

  @Test("The time limit ends only the wait that it was set for")
  func timeLimitEndsOneWait() async {
    let signal = AsyncSignal(sleep: { _ in })
    let other = Task { await signal.wait() }
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    await signal.wait(atMost: .seconds(60))
    #expect(signal.waiterCount == 1)
    signal.notify()
    await other.value
  }

  @Test("A signal cancels the sleep of a time limit")
  func signalCancelsTheSleep() async {
    let hasEnded = AsyncSignal()
    let signal = AsyncSignal(sleep: { limit in
      defer { hasEnded.notify() }
      try await Task.sleep(for: limit)
    })
    let waiting = Task { await signal.wait(atMost: .seconds(3600)) }
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    signal.notify()
    await waiting.value
    await hasEnded.wait()
    #expect(hasEnded.count == 1)
  }

  @Test("Cancelling the task ends its wait")
  func cancellationEndsWait() async {
    let signal = AsyncSignal(sleep: Self.forever)
    let waiting = Task { await signal.wait(after: 0) }
    waiting.cancel()
    await waiting.value
    #expect(signal.count == 0)
    #expect(signal.waiterCount == 0)
  }

  @Test("Cancelling a suspended task ends its wait, and no other")
  func cancellationEndsSuspendedWait() async {
    let signal = AsyncSignal()
    let waiting = Task { await signal.wait() }
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    let another = Task { await signal.wait() }
    #expect(await eventuallyHolds { signal.waiterCount == 2 })
    waiting.cancel()
    await waiting.value
    #expect(signal.waiterCount == 1)
    another.cancel()
    await another.value
    #expect(signal.waiterCount == 0)
  }

  @Test("A wait that was cancelled before it began returns at once")
  func cancelledTaskDoesNotWait() async {
    let signal = AsyncSignal()
    let start = AsyncSignal()
    let waiting = Task {
      await start.wait(ignoresCancellation: true)
      #expect(Task.isCancelled)
      await signal.wait()
    }
    waiting.cancel()
    start.notify()
    await waiting.value
    #expect(signal.waiterCount == 0)
  }

  @Test("A cancellation after the signal changes nothing")
  func cancellationAfterSignal() async {
    let signal = AsyncSignal()
    let waiting = Task { await signal.wait() }
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    signal.notify()
    waiting.cancel()
    await waiting.value
    #expect(signal.waiterCount == 0)
  }

  @Test("A wait that ignores cancellation ends with the signal, or with its time limit")
  func cancellationCanBeIgnored() async {
    let signal = AsyncSignal(sleep: { _ in })
    let waiting = Task { await signal.wait(ignoresCancellation: true) }
    waiting.cancel()
    #expect(await eventuallyHolds { signal.waiterCount == 1 })
    let limited = Task { await signal.wait(atMost: .seconds(60), ignoresCancellation: true) }
    limited.cancel()
    await limited.value
    #expect(signal.waiterCount == 1)
    signal.notify()
    await waiting.value
    #expect(signal.waiterCount == 0)
  }

  /// Items that wait for a consumer, and the number of those taken.
  private final class Work: Sendable {
    let items = Mutex(0)
    let taken = Mutex(0)
  }

  /// Consumers that take every item exactly once, with each way in which a wait ends: a lost wake-up
  /// would leave an item, and the test would not end.
  @Test("Signals, waits, limits and cancellations at random lose no wake-up", arguments: 0..<40)
  func losesNoWakeUp(seed: UInt64) async {
    let signal = AsyncSignal(sleep: { _ in await Task.yield() })
    let work = Work()
    let total = 300
    await withTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: seed * 64 + UInt64(number))
          while true {
            let seen = signal.count
            guard work.taken.withLock({ $0 < total }) else { return }
            let found = work.items.withLock { count in
              defer { count = 0 }
              return count
            }
            if found > 0 {
              let isLast = work.taken.withLock { taken in
                taken += found
                return taken == total
              }
              // The others wait for an item that does not come.
              if isLast { signal.notify() }
              continue
            }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: await signal.wait(after: seen, atMost: .seconds(1))
            case 1:
              let waiting = Task { await signal.wait(after: seen) }
              if Bool.random(using: &random) { await Task.yield() }
              waiting.cancel()
              await waiting.value
            default: await signal.wait(after: seen)
            }
          }
        }
      }
      group.addTask {
        var random = SeededGenerator(seed: seed * 64 + 63)
        for _ in 0..<total {
          if Int.random(in: 0..<3, using: &random) == 0 { await Task.yield() }
          work.items.withLock { $0 += 1 }
          signal.notify()
        }
      }
      await group.waitForAll()
    }
    #expect(work.taken.withLock { $0 } == total)
    #expect(signal.count == UInt64(total) + 1)
    #expect(signal.waiterCount == 0)
  }
}
