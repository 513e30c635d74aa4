import Model
import Testing

@testable import Standby

struct LeaseTests {
  private let objects = MemoryObjects()
  private var store: StandbyStore { StandbyFixture.store(objects) }

  @Test("Of machines that take the lease at the same moment one gets it, each with a new epoch")
  func takingRaces() async throws {
    let store = store
    for round in 1...10 {
      let seen = try await store.lease()
      let taken = try await withThrowingTaskGroup(of: VersionedLease?.self) { group in
        for index in 0..<5 {
          group.addTask {
            try await StandbyFixture.taking(store, "n\(index)").take(
              after: seen, history: "h\(index)")
          }
        }
        return try await group.reduce(into: [VersionedLease]()) {
          if let lease = $1 { $0.append(lease) }
        }
      }
      #expect(taken.count == 1)
      let lease = try #require(taken.first)
      #expect(lease.lease.epoch == Int64(round))
      #expect(try await store.lease() == lease)
      // The history is that of the first.
      if let seen { #expect(lease.lease.history == seen.lease.history) }
    }
  }

  @Test("A take whose response was lost is recognised by its own machine")
  func lostResponse() async throws {
    objects.fail([.lostResponse])
    let taking = StandbyFixture.taking(store, "a")
    await #expect(throws: StandbyError.self) { try await taking.take(after: nil, history: "h") }
    let seen = try #require(try await store.lease())
    #expect(seen.lease.holder == "a" && seen.lease.epoch == 1)
    #expect(try await StandbyFixture.taking(store, "b").take(after: nil, history: "x") == nil)
  }

  @Test(
    "A lease has ended when it did not change for its time and a second, by the watcher's clock")
  func watching() async throws {
    let lease = try #require(
      try await StandbyFixture.taking(store, "a", lease: .seconds(10)).take(
        after: nil, history: "h"))
    var watch = LeaseWatch()
    func isExpired(_ lease: VersionedLease, at now: Duration) -> Bool {
      watch.isExpired(lease, at: now)
    }
    #expect(!isExpired(lease, at: .seconds(1_000)))
    #expect(!isExpired(lease, at: .seconds(1_010)))
    #expect(!isExpired(lease, at: .seconds(1_011)))
    #expect(isExpired(lease, at: .milliseconds(1_011_001)))
    let renewed = try #require(try await store.replace(lease.lease.claimed, after: lease.version))
    #expect(!isExpired(renewed, at: .seconds(1_012)))
    #expect(!isExpired(renewed, at: .seconds(1_023)))
    watch.forget()
    #expect(!isExpired(renewed, at: .seconds(1_030)))
    #expect(isExpired(renewed, at: .seconds(1_042)))
  }

  @Test(
    "A lease says since when only one node has written, also if another took it without writing")
  func writers() async throws {
    let store = store
    func take(_ node: String) async throws -> VersionedLease {
      let seen = try await store.lease()
      return try #require(
        try await StandbyFixture.taking(store, node).take(after: seen, history: "h"))
    }
    func claim(_ lease: VersionedLease) async throws {
      _ = try #require(try await store.replace(lease.lease.claimed, after: lease.version))
    }
    try await claim(try await take("a"))
    let second = try await take("a")
    #expect(second.lease.epoch == 2)
    #expect(second.lease.hasOnlyWriter("a", since: 1))
    try await claim(second)
    // It gives back what it cannot use.
    let third = try await take("b")
    #expect(third.lease.hasOnlyWriter("a", since: 1) && third.lease.hasOnlyWriter("a", since: 2))
    #expect(!third.lease.hasOnlyWriter("b", since: 3))
    try await claim(third)
    let fourth = try await take("a")
    #expect(fourth.lease.hasOnlyWriter("b", since: 3) && !fourth.lease.hasOnlyWriter("b", since: 2))
    #expect(!fourth.lease.hasOnlyWriter("a", since: 2))
  }

  @Test("A lease and a segment are read as they were written")
  func codecs() throws {
    var lease = StandbyLease(
      history: "h", epoch: 3, holder: "n", host: "ü", version: "1.2", duration: .seconds(15),
      renewed: Timestamp(milliseconds: -5)
    ).claimed
    lease.isReleased = true
    lease.unsentAge = .milliseconds(1_234)
    #expect(try StandbyLease(lease.bytes) == lease)
    let segment = LogSegment(
      number: 7, epoch: 3, first: 12,
      commits: [
        .init(at: Timestamp(milliseconds: 1), payload: []),
        .init(at: Timestamp(milliseconds: 2), payload: [1, 2]),
      ])
    #expect(try LogSegment(segment.bytes) == segment)
    #expect(segment.last == 13)
    #expect(segment.commits(after: 12).map(\.position) == [13])
    #expect(LogSegment(number: 1, epoch: 1, first: 5, commits: []).last == 4)
  }
}
