import Model
import TestSupport
import Testing

@testable import Standby

struct LogSenderTests {
  private let objects = MemoryObjects()
  private var store: StandbyStore { StandbyFixture.store(objects) }

  private func primary(
    _ node: String = "a", settings: (inout LogSender.Settings) -> Void = { _ in }
  ) async throws -> RunningSender {
    let (lease, fence) = try #require(try await StandbyFixture.lead(store, node))
    return RunningSender(store, lease, after: fence, settings: settings)
  }

  @Test(
    "All commits come into the log in their order, whatever is lost",
    arguments: 1...30 as ClosedRange<UInt64>)
  func survivesLosses(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let running = try await primary { $0.segmentBytesMax = 40 }
    var expected: [[UInt8]] = []
    for position in 1...60 {
      if Int.random(in: 0..<5, using: &generator) == 0 {
        let faults: [MemoryObjects.Fault?] = [.lostRequest, .lostResponse, nil]
        objects.fail((0..<3).map { _ in faults.randomElement(using: &generator)! })
      }
      let payload = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      try running.sender.append(payload, at: Int64(position))
      expected.append(payload)
      if position % 7 == 0 {
        #expect(await running.sender.flush(upTo: Int64(position), atMost: .seconds(3_000)))
      }
    }
    #expect(await running.sender.flush(upTo: 60, atMost: .seconds(3_000)))
    let log = try await StandbyFixture.log(store)
    #expect(log.map(\.payload) == expected, "seed \(seed)")
    #expect(log.map(\.position) == Array(1...60), "seed \(seed)")
    #expect(!running.isFenced)
    let measures = running.sender.measures
    #expect(measures.sentPosition == 60 && measures.unsentBytes == 0 && measures.unsentAge == .zero)
    await running.stop()
  }

  @Test("A former primary's segment, however late, is not in the log after another one leads")
  func lateSegments() async throws {
    let first = try await primary()
    try first.sender.append([1], at: 1)
    #expect(await first.sender.flush(upTo: 1, atMost: .seconds(60)))
    // It is paused with a commit that it has not sent.
    await first.stop()
    try first.sender.append([2], at: 2)
    let second = try await primary("b")
    try second.sender.append([3], at: 2)
    #expect(await second.sender.flush(upTo: 2, atMost: .seconds(60)))
    let again = Task { await first.sender.run() }
    #expect(await eventuallyHolds { first.isFenced })
    again.cancel()
    await again.value
    #expect(throws: CommitRefusal.fenced) { try first.sender.append([4], at: 3) }
    let log = try await StandbyFixture.log(store)
    #expect(log.map(\.payload) == [[1], [3]])
    #expect(log.map(\.epoch) == [1, 2])
    await second.stop()
  }

  @Test(
    "A segment that comes before the next primary's is in the log, and that one goes on after it")
  func earlySegments() async throws {
    let store = store
    let first = try await primary()
    try first.sender.append([1], at: 1)
    #expect(await first.sender.flush(upTo: 1, atMost: .seconds(60)))
    let seen = try await store.lease()
    let taking = StandbyFixture.taking(store, "b")
    let lease = try #require(try await taking.take(after: seen, history: "h"))
    let last = try await LogSearch(store).last(after: 0)
    // Between the look at the log and its end.
    try first.sender.append([2], at: 2)
    _ = await first.sender.flush(upTo: 2, atMost: .seconds(60))
    let fence = try await taking.fence(lease.lease, after: last, floor: 0)
    #expect(fence.last == 2 && fence.number == last.map { $0.number + 2 })
    await first.stop()
  }

  @Test(
    "No commit is taken once the lease has ended by the own clock, and again once it is renewed")
  func endsWithTheLease() async throws {
    let running = try await primary { $0.lease = .seconds(3_600) }
    try running.sender.append([1], at: 1)
    objects.set(isAway: true)
    running.uptime.advance(by: .seconds(3_599))
    #expect(!running.sender.hasLeaseEnded)
    running.uptime.advance(by: .seconds(2))
    #expect(running.sender.hasLeaseEnded && !running.sender.measures.isTaking)
    #expect(throws: CommitRefusal.self) { try running.sender.append([2], at: 2) }
    objects.set(isAway: false)
    #expect(await running.sender.renew())
    #expect(await running.sender.flush(upTo: 1, atMost: .seconds(60)))
    try running.sender.append([2], at: 2)
    #expect(await running.sender.flush(upTo: 2, atMost: .seconds(60)))
    #expect(try await StandbyFixture.log(store).map(\.payload) == [[1], [2]])
    await running.stop()
  }

  @Test("A store that takes renewals and no commits stops writes after the time of a lease")
  func boundsTheLoss() async throws {
    let (lease, fence) = try #require(try await StandbyFixture.lead(store, "a"))
    let running = RunningSender(store, lease, after: fence) { $0.lease = .seconds(3_600) }
    // Nothing sends.
    await running.stop()
    try running.sender.append([1], at: 1)
    running.uptime.advance(by: .seconds(3_000))
    #expect(await running.sender.renew())
    try running.sender.append([2], at: 2)
    #expect(running.sender.measures.unsentAge == .seconds(3_000))
    running.uptime.advance(by: .seconds(601))
    #expect(throws: CommitRefusal.self) { try running.sender.append([3], at: 3) }
    #expect(try await store.lease()?.lease.unsentAge == .seconds(3_000))
  }

  @Test("A renewal whose response was lost does not lose the lease")
  func lostRenewals() async throws {
    let (lease, fence) = try #require(try await StandbyFixture.lead(store, "a"))
    let running = RunningSender(store, lease, after: fence) { $0.lease = .seconds(3_600) }
    await running.stop()
    objects.fail([.lostResponse])
    #expect(await !running.sender.renew())
    #expect(await running.sender.renew())
    #expect(await running.sender.renew())
    #expect(!running.isFenced)
    #expect(try await store.lease()?.lease.holder == "a")
  }

  @Test("A machine that finds another one's lease stops at once")
  func lostLease() async throws {
    let first = try await primary { $0.lease = .seconds(3_600) }
    await first.stop()
    let second = try #require(try await StandbyFixture.lead(store, "b"))
    #expect(await first.sender.renew())
    #expect(first.isFenced && first.sender.isFenced && first.sender.hasLeaseEnded)
    #expect(throws: CommitRefusal.fenced) { try first.sender.append([1], at: 1) }
    #expect(try await store.lease()?.lease.holder == second.0.lease.holder)
  }

  @Test(
    "The end sends all commits and releases the lease, whatever is lost",
    arguments: [
      [], [MemoryObjects.Fault.lostRequest], [.lostResponse], [nil, .lostRequest],
      [nil, .lostResponse],
    ] as [[MemoryObjects.Fault?]])
  func ends(faults: [MemoryObjects.Fault?]) async throws {
    let running = try await primary { $0.interval = .seconds(3_000) }
    try running.sender.append([1], at: 1)
    objects.fail(faults)
    #expect(await running.sender.end(atMost: .seconds(60)))
    await running.stop()
    #expect(try await store.lease()?.lease.isReleased == true)
    #expect(try await StandbyFixture.log(store).map(\.payload) == [[1]])
  }

  @Test(
    "An end without the store does not release the lease, so that the machine can go on with its commits"
  )
  func endsWithoutTheStore() async throws {
    let running = try await primary { $0.interval = .seconds(3_000) }
    try running.sender.append([1], at: 1)
    objects.set(isAway: true)
    let isDone = FencedFlag()
    let ending = Task {
      let isSent = await running.sender.end(atMost: .milliseconds(5))
      isDone.set()
      return isSent
    }
    #expect(
      await eventuallyHolds {
        running.uptime.advance(by: .milliseconds(10))
        return isDone.isSet
      })
    #expect(await !ending.value)
    await running.stop()
    objects.set(isAway: false)
    #expect(try await store.lease()?.lease.isReleased == false)
  }

  @Test("Times of commits never go back")
  func timesGrow() throws {
    var queue = SegmentQueue(epoch: 1, nextNumber: 2, notBefore: Timestamp(milliseconds: 50))
    for (position, time) in [(5, 40), (6, 70), (7, 60)] as [(Int64, Int64)] {
      let isNext = queue.add(
        [], at: position, time: Timestamp(milliseconds: time), now: .zero)
      #expect(isNext)
    }
    let skips = queue.add([], at: 9, time: Timestamp(milliseconds: 80), now: .zero)
    #expect(!skips)
    let next = queue.next(bytesMax: 10)
    let segment = try #require(next)
    #expect(segment.commits.map(\.at.milliseconds) == [50, 70, 70])
    #expect(segment.first == 5 && segment.last == 7)
    // More commits do not change what is being sent.
    _ = queue.add([1], at: 8, time: Timestamp(milliseconds: 80), now: .zero)
    let same = queue.next(bytesMax: 10)
    #expect(same == segment)
    queue.noteSent(segment)
    let following = queue.next(bytesMax: 10)
    #expect(following?.first == 8 && queue.sentPosition == 7)
  }
}
