import Testing

@testable import Gateway

struct AsyncSignalTests {
  /// A sleep that never ends.
  private static let forever: @Sendable (Duration) async throws -> Void = { _ in
    throw CancellationError()
  }

  @Test("A signal before the wait ends the wait")
  func signalBeforeWait() async {
    let signal = AsyncSignal(sleep: Self.forever)
    let seen = signal.generation
    signal.notify()
    await signal.wait(after: seen)
    #expect(signal.generation == seen + 1)
  }

  @Test("One signal wakes all waiters")
  func oneSignalWakesAll() async {
    let signal = AsyncSignal(sleep: Self.forever)
    await withTaskGroup { group in
      for _ in 0..<8 {
        let seen = signal.generation
        group.addTask { await signal.wait(after: seen, atMost: .seconds(60)) }
      }
      signal.notify()
      await group.waitForAll()
    }
    #expect(signal.generation == 1)
  }

  @Test("The time limit ends a wait")
  func timeLimitEndsWait() async {
    let signal = AsyncSignal(sleep: { _ in })
    await signal.wait(after: signal.generation, atMost: .seconds(60))
    #expect(signal.generation == 0)
  }

  @Test("Cancelling the task ends its wait")
  func cancellationEndsWait() async {
    let signal = AsyncSignal(sleep: Self.forever)
    let waiting = Task { await signal.wait(after: 0) }
    waiting.cancel()
    await waiting.value
    #expect(signal.generation == 0)
  }
}
