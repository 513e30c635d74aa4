import LosslessJSON
import Model
import SyncScheduler
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import Storage

struct InboxSubmitterTests {
  // MARK: Without a leader

  @Test("Without a leader a submission is acknowledged, and shows until the leader has enqueued it")
  func acknowledgesWithoutALeader() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    let status = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    #expect(!status.isReplay)
    #expect(try JSONValue(checked: status.body)["state"] == "queued")
    #expect(try world.entry(of: status) == 2)
    #expect(try await world.record(status.id, of: caller)["state"] == "queued")
    #expect(try await world.sync.status(by: caller).pending == 1)
    #expect(try await world.store.drainedNumber() == 0)
    #expect(try await world.drain())
    #expect(world.inbox.rows.isEmpty)
    #expect(try await world.record(status.id, of: caller)["state"] == "queued")
    #expect(try await world.sync.status(by: caller).pending == 1)
    // The next read finds that the store has it.
    #expect(try await world.sync.prepareReads(of: caller, cursors: []))
    #expect(try await world.sync.status(by: caller).pending == 1)
  }

  @Test("The same key is a replay while its mutation is in the inbox, and after")
  func replays() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    let first = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    let again = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    #expect(again.id == first.id)
    #expect(again.isReplay)
    #expect(world.inbox.rows.count == 1)
    try await world.drain()
    let later = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    #expect(later.id == first.id)
    #expect(later.isReplay)
    #expect(try world.entry(of: later) == nil)
    #expect(world.inbox.rows.isEmpty)
  }

  @Test("Another payload under the same key is refused, in the inbox and after")
  func refusesAReusedKey() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    _ = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    for _ in 0..<2 {
      let failure = try await world.failure {
        _ = try await world.submit(InboxWorld.rating("1", stars: 1), "k", by: caller)
      }
      #expect(failure.code == .idempotencyKeyReused)
      try await world.drain()
    }
    #expect(try await world.sync.status(by: caller).pending == 1)
  }

  @Test("Submissions of one key at the same time are one mutation")
  func theIndexDecides() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    let statuses = try await withThrowingTaskGroup(of: MutationStatus.self) { group in
      for _ in 0..<16 {
        group.addTask { try await world.submit(InboxWorld.rating("1"), "k", by: caller) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(statuses.map(\.id)).count == 1)
    #expect(statuses.filter { !$0.isReplay }.count == 1)
    try await world.drain()
    #expect(try await world.sync.status(by: caller).pending == 1)
  }

  @Test("Nothing is acknowledged before this node has applied what can have the key")
  func waitsForTheLog() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    world.inbox.set { $0.isCaughtUp = false }
    let failure = try await world.failure {
      _ = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    }
    #expect(failure.code == .nodeBehind)
    #expect(failure.retry == .sameKey)
    // The same key is safe: its entry is found.
    world.inbox.set { $0.isCaughtUp = true }
    let status = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    #expect(world.inbox.state.withLock { $0.additions } == 1)
    try await world.drain()
    #expect(try await world.record(status.id, of: caller)["state"] == "queued")
  }

  @Test("The limit of a device counts its inbox and its queue")
  func countsTheInbox() async throws {
    let world = try await InboxWorld(policy: QueuePolicy(itemsMax: 3))
    let caller = try await world.device()
    _ = try await world.submit(InboxWorld.rating("1"), "a", by: caller)
    try await world.drain()
    _ = try await world.submit(InboxWorld.rating("2"), "b", by: caller)
    _ = try await world.submit(InboxWorld.rating("3"), "c", by: caller)
    let failure = try await world.failure {
      _ = try await world.submit(InboxWorld.rating("4"), "d", by: caller)
    }
    #expect(failure.code == .queueFull)
    // A replay is none more.
    #expect(try await world.submit(InboxWorld.rating("3"), "c", by: caller).isReplay)
    let other = try await world.device()
    _ = try await world.submit(InboxWorld.rating("4"), "d", by: other)
  }

  @Test("A forced mutation is not stored while no node can send it")
  func refusesForceWithoutALeader() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    let failure = try await world.failure {
      _ = try await world.sync.force(InboxWorld.rating("1", .force), key: "k", by: caller)
    }
    #expect(failure.code == .notSent)
    #expect(failure.retry == .sameKey)
    #expect(world.inbox.rows.isEmpty)
  }

  @Test("Nothing is acknowledged while the inbox cannot be reached")
  func refusesWithoutTheInbox() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    for hasLeader in [false, true] {
      world.inbox.set {
        $0.isAway = true
        $0.hasLeader = hasLeader
      }
      let failure = try await world.failure {
        _ = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
      }
      #expect(failure.code == .storageUnavailable)
      #expect(failure.retry == .sameKey)
      #expect(failure.retryAfter != nil)
      // Without a leader the device's entries are read first, so nothing can be stored.
      #expect(
        failure.message.contains(hasLeader ? "It is not known" : "nothing was enqueued"),
        "\(failure.message)")
      // The cause is not the disk of the data folder.
      #expect(failure.remedy?.contains("PostgreSQL") == true)
    }
    #expect(try await world.store.queueStatus(of: try #require(caller.device?.id)).pending == 0)
  }

  @Test("A mutation that is not known here is unknown only while the inbox can be reached")
  func unknownMutations() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    for hasLeader in [false, true] {
      world.inbox.set { $0.hasLeader = hasLeader }
      for (isAway, code) in [(false, Failure.Code.mutationNotFound), (true, .storageUnavailable)] {
        world.inbox.set { $0.isAway = isAway }
        let failure = try await world.failure {
          _ = try await world.sync.mutation("m_unknown", wait: .zero, by: caller)
        }
        #expect(failure.code == code)
      }
    }
  }

  // MARK: With a leader

  @Test("With a leader the response tells what the queue decided, and its cursor covers the entry")
  func answersForTheQueue() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    // Nothing is sent meanwhile.
    _ = try await world.sync.perform(.pause, by: caller)
    try await world.leading {
      let first = try await world.submit(InboxWorld.rating("1", .lazy), "a", by: caller)
      #expect(try world.entry(of: first) == 2)
      let second = try await world.submit(InboxWorld.rating("1", stars: 5, .lazy), "b", by: caller)
      #expect(try JSONValue(checked: second.body)["supersedes"]?.string == first.id.value)
      #expect(try await world.record(first.id, of: caller)["state"] == "superseded")
    }
  }

  @Test("What this node is adding counts against its device's limit")
  func countsWhatIsBeingAdded() async throws {
    let world = try await InboxWorld(policy: QueuePolicy(itemsMax: 1))
    let caller = try await world.device()
    world.inbox.set { $0.hasLeader = true }
    let first = Task { try await world.submit(InboxWorld.rating("1"), "a", by: caller) }
    #expect(await eventuallyHolds { world.inbox.rows.count == 1 && world.time.nextWake != nil })
    let failure = try await world.failure {
      _ = try await world.submit(InboxWorld.rating("2"), "b", by: caller)
    }
    #expect(failure.code == .queueFull)
    #expect(failure.retry == .after && failure.retryAfter != nil)
    #expect(world.inbox.rows.count == 1)
    // The same submission again is none more.
    let again = Task { try await world.submit(InboxWorld.rating("1"), "a", by: caller) }
    try await world.drain()
    #expect(try await again.value.id == first.value.id)
  }

  @Test("A submission that the leader takes in time is answered, also by a node that is late")
  func lateNodesAnswer() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    world.inbox.set {
      $0.hasLeader = true
      $0.isCaughtUp = false
    }
    let submission = Task { try await world.submit(InboxWorld.rating("1"), "k", by: caller) }
    #expect(await eventuallyHolds { world.inbox.rows.count == 1 && world.time.nextWake != nil })
    try await world.drain()
    #expect(try world.entry(of: try await submission.value) == 2)
  }

  @Test("A leader that takes too long is not waited for")
  func doesNotWaitForever() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    world.inbox.set { $0.hasLeader = true }
    let submission = Task { try await world.submit(InboxWorld.rating("1"), "k", by: caller) }
    #expect(await eventuallyHolds { world.inbox.rows.count == 1 && world.time.nextWake != nil })
    world.time.advance(by: InboxSubmitter.drainMax)
    let status = try await submission.value
    #expect(try world.entry(of: status) == 2)
    #expect(try await world.sync.status(by: caller).pending == 1)
    try await world.drain()
    #expect(try await world.sync.prepareReads(of: caller, cursors: []))
    #expect(try await world.sync.status(by: caller).pending == 1)
  }

  @Test("A mutation that the queue refuses gets the same failure each time, and an outcome")
  func refusalsAreVisible() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    // Nothing is sent meanwhile.
    _ = try await world.sync.perform(.pause, by: caller)
    try await world.leading {
      _ = try await world.submit(InboxWorld.rating("1", .lazy, deletes: true), "a", by: caller)
      for _ in 0..<2 {
        let failure = try await world.failure {
          _ = try await world.submit(InboxWorld.rating("1", .lazy), "b", by: caller)
        }
        #expect(failure.code == .objectDeleted)
      }
      let rejected = try JSONValue(
        checked: try await world.sync.mutations(
          states: [.rejected], after: nil, limit: 10, by: caller))
      #expect(rejected["items"]?.array?.count == 1)
      #expect(rejected["items"]?[0]?["problem"]?["code"] == "object_deleted")
    }
  }

  // MARK: Reads

  @Test("A node without the inbox is cut off, and refuses cursors that need it")
  func cutOffReads() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    let status = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    let cursor = try #require(try JSONValue(checked: status.body)["cursor"]?.string)
    world.inbox.set { $0.isAway = true }
    #expect(try await world.sync.prepareReads(of: caller, cursors: []) == false)
    let failure = try await world.failure {
      _ = try await world.sync.prepareReads(of: caller, cursors: ["no cursor", cursor])
    }
    #expect(failure.code == .storageUnavailable)
    #expect(failure.retryAfter != nil)
    // Callers without a device have submitted nothing.
    #expect(try await world.sync.prepareReads(of: .anonymous, cursors: []))
    world.inbox.set { $0.isAway = false }
    #expect(try await world.sync.prepareReads(of: caller, cursors: ["no cursor", cursor]))
    #expect(try await world.sync.prepareReads(of: caller, cursors: ["no cursor"]))
  }

  @Test("What only the inbox has is known as the entry that a device's reads show")
  func shownEntries() async throws {
    let world = try await InboxWorld()
    let (caller, other) = (try await world.device(), try await world.device())
    #expect(world.sync.inboxEntry(shownTo: caller) == nil)
    let first = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    let second = try await world.submit(InboxWorld.rating("2"), "l", by: caller)
    let entry = try #require(try world.entry(of: second))
    #expect(try #require(try world.entry(of: first)) < entry)
    #expect(world.sync.inboxEntry(shownTo: caller) == entry)
    #expect(world.sync.inboxEntry(shownTo: other) == nil)
    #expect(world.sync.inboxEntry(shownTo: .anonymous) == nil)
    try await world.drain()
    #expect(try await world.sync.prepareReads(of: caller, cursors: []))
    #expect(world.sync.inboxEntry(shownTo: caller) == nil)
  }

  @Test("A cursor whose entry the leader has moved needs the log, not the inbox")
  func movedEntries() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    let status = try await world.submit(InboxWorld.rating("1"), "k", by: caller)
    let cursor = try #require(try JSONValue(checked: status.body)["cursor"]?.string)
    try await world.drain()
    world.inbox.set {
      $0.hasLeader = true
      $0.isAway = true
    }
    #expect(try await world.sync.prepareReads(of: caller, cursors: ["no cursor", cursor]))
  }
}

struct InboxDrainerTests {
  @Test("Entries that stay in the inbox after their commit are not enqueued twice")
  func drainsOnce() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    for number in 1...5 {
      _ = try await world.submit(InboxWorld.rating("\(number)"), "\(number)", by: caller)
    }
    world.inbox.set { $0.keepsRows = true }
    let drainer = try #require(world.sync.drainer)
    let loop = Task { await drainer.drainAll() }
    let device = try #require(caller.device?.id)
    #expect(
      try await eventuallyHolds { try await world.store.queueStatus(of: device).pending == 5 })
    world.inbox.set { $0.keepsRows = false }
    #expect(await loop.value)
    #expect(try await world.store.queueStatus(of: device).pending == 5)
    #expect(world.inbox.rows.isEmpty)
    let list = try JSONValue(
      checked: try await world.sync.mutations(states: nil, after: nil, limit: 10, by: caller))
    #expect(list["items"]?.array?.count == 5)
  }

  @Test("An entry of a newer version stops the entries after it, and is reported")
  func newerEntriesWait() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    _ = try await world.submit(InboxWorld.rating("1"), "a", by: caller)
    _ = try await world.inbox.add(
      device: "d_other", key: "x", body: Array(#"{"v":2,"mutations":[]}"#.utf8))
    _ = try await world.submit(InboxWorld.rating("2"), "b", by: caller)
    #expect(try await world.drain())
    let device = try #require(caller.device?.id)
    #expect(try await world.store.queueStatus(of: device).pending == 1)
    #expect(world.inbox.rows.map(\.key) == ["x", "b"])
    #expect(world.log.lines.contains { $0.message.contains("cannot be decoded") })
    // What waits still shows to its device.
    #expect(try await world.sync.status(by: caller).pending == 2)
  }

  @Test("A leader whose store takes no more writes stops")
  func stopsWithoutTheStore() async throws {
    let world = try await InboxWorld()
    let caller = try await world.device()
    _ = try await world.submit(InboxWorld.rating("1"), "a", by: caller)
    world.store.writer.refuseAll(with: .notLeader)
    #expect(try await world.drain() == false)
    #expect(world.inbox.rows.count == 1)
  }
}
