import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import Gateway

struct LeaderPulseTests {
  private let pulse = LeaderPulse()

  private func leader(_ node: String) throws -> LeaderLink.Leader {
    LeaderLink.Leader(node: node, url: try HTTPURL("http://127.0.0.1:1"), epoch: 1)
  }

  private func isHeard(
    _ leader: LeaderLink.Leader, at seconds: Int, answers: Bool = true
  ) async -> Bool {
    let counter = asks
    return await pulse.isHeard(leader, at: .seconds(seconds)) {
      counter.note()
      return answers
    }
  }

  private let asks = Asks()

  private final class Asks: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func note() { value.add(1, ordering: .relaxed) }
  }

  @Test("A leader that was heard just now is not asked")
  func asksSilentLeaders() async throws {
    let first = try leader("a")
    #expect(await isHeard(first, at: 10))
    #expect(asks.count == 1)
    #expect(await isHeard(first, at: 10))
    #expect(asks.count == 1)
    #expect(await !isHeard(first, at: 11, answers: false))
    #expect(asks.count == 2)
    // An answer that it did not give is not remembered as one.
    #expect(await isHeard(first, at: 11))
    #expect(asks.count == 3)
    pulse.noteHeard(first, at: .seconds(12))
    #expect(await isHeard(first, at: 12, answers: false))
    #expect(asks.count == 3)
    // Another leader was not heard.
    #expect(await !isHeard(try leader("b"), at: 12, answers: false))
    #expect(asks.count == 4)
  }

  @Test("Requests that wait at the same time ask once")
  func asksOnce() async throws {
    let leader = try leader("a")
    let (pulse, asks) = (pulse, asks)
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    let wait: @Sendable () async -> Bool = {
      await pulse.isHeard(leader, at: .seconds(5)) {
        asks.note()
        for await isHeard in answers { return isHeard }
        return false
      }
    }
    let first = Task { await wait() }
    #expect(await eventuallyHolds { asks.count == 1 })
    let others = (0..<7).map { _ in Task { await wait() } }
    answer.yield(true)
    for task in [first] + others { #expect(await task.value) }
    #expect(asks.count == 1)
  }
}
