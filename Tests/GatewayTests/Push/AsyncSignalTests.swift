import Testing

@testable import Gateway

struct AsyncSignalTests {
  /// A time that is never over.
  private static let forEver: @Sendable (Duration) async throws -> Void = { _ in
    throw CancellationError()
  }

  @Test func aRingBeforeTheWaitIsHeard() async {
    let bell = AsyncSignal(sleep: Self.forEver)
    let heard = bell.rings
    bell.ring()
    await bell.wait(past: heard)
    #expect(bell.rings == heard + 1)
  }

  @Test func oneRingWakesAll() async {
    let bell = AsyncSignal(sleep: Self.forEver)
    await withTaskGroup { group in
      for _ in 0..<8 {
        let heard = bell.rings
        group.addTask { await bell.wait(past: heard, atMost: .seconds(60)) }
      }
      bell.ring()
      await group.waitForAll()
    }
    #expect(bell.rings == 1)
  }

  @Test func theTimeEndsAWait() async {
    let bell = AsyncSignal(sleep: { _ in })
    await bell.wait(past: bell.rings, atMost: .seconds(60))
    #expect(bell.rings == 0)
  }

  @Test func aCancelledTaskWaitsNoMore() async {
    let bell = AsyncSignal(sleep: Self.forEver)
    let waiting = Task { await bell.wait(past: 0) }
    waiting.cancel()
    await waiting.value
    #expect(bell.rings == 0)
  }
}
