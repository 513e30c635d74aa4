import GRDB
import LosslessJSON
import Model
import SyncScheduler
import Testing

@testable import Storage

/// Expiry of queue data, and what one commit does for the next mutation.
struct UpkeepTests {
  @Test("Old temporary ids are removed in batches")
  func temporaryIDsAreRemovedInBatches() async throws {
    let world = try await QueueWorld()
    let old = Timestamp(milliseconds: 1)
    _ = try await world.store.writer.write { database, _ in
      for number in 0..<300 {
        try database.execute(
          sql: "INSERT INTO temporary_id VALUES (?, ?, 'Film', '7', ?)",
          arguments: [QueueWorld.device, "~\(number)", old.milliseconds])
      }
      try database.execute(
        sql: "INSERT INTO temporary_id VALUES ('d', '~new', 'Film', '7', ?)",
        arguments: [world.now.milliseconds])
    }
    func forget() async throws -> Bool {
      try await world.store.forgetMutations(at: old.advanced(by: .seconds(90 * 86_400 + 1)))
    }
    #expect(try await forget())
    #expect(try await world.fixture.count("temporary_id") == 45)
    #expect(try await !forget())
    #expect(try await world.fixture.count("temporary_id") == 1)
  }

  @Test("A rolled-back command restores the flag for lingering overlays")
  func aRollbackRestoresTheLingeringFlag() {
    let counters = WriterMemory.Counters(revision: 0, call: 0, floor: 0)
    let memory = WriterMemory(counters: counters, kindsPresent: [:])
    let before = memory.counters
    memory.mayLinger = false
    memory.forget(since: before)
    #expect(memory.mayLinger)
  }

  /// The response has one of the expected changes as a deletion and does not mention the other.
  @Test("An overlay lingers unless the response covers every expected change")
  func everyExpectedChangeMustBeCovered() async throws {
    let world = try await QueueWorld()
    _ = try await world.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "Old"]).film("2", ["title": "Two"]).build())
    _ = try await world.enqueue(
      QueueWorld.arrival(
        "a",
        overlays: [
          OverlayChange(.merge, .film("2"), fields: Array(#"{"title":"Gone"}"#.utf8)),
          OverlayChange(.merge, .film("1"), fields: Array(#"{"title":"Mine"}"#.utf8)),
        ])
    ).get()
    try await world.settle(
      try #require(try await world.claim("a")), as: .applied(created: [:]),
      response: ResponseBuilder(call: 5).deleting(.film("2")).build())
    #expect(try await world.fixture.title(of: "1", viewer: world.viewer) == "Mine")
  }

  @Test("Whether a queue waits for a key or for a token survives a restart")
  func whyAQueueWaitsIsStored() async throws {
    for (outcome, waits) in [(SendOutcome.credentialUnreadable, false), (.authRefused, true)] {
      let world = try await QueueWorld()
      _ = try await world.enqueue(QueueWorld.arrival("a")).get()
      try await world.settle(try #require(try await world.claim("a")), as: outcome)
      #expect(try await world.store.queueStatus(of: QueueWorld.device).state == .authRequired)
      let recovered = try await world.store.recover(QueueWorld.device, timing: world.timing)
      #expect(recovered.needsCredential == waits)
    }
  }

  @Test("A start finds queues that wait for a credential")
  func aStartFindsQueuesThatWaitForACredential() async throws {
    let world = try await QueueWorld()
    _ = try await world.enqueue(QueueWorld.arrival("a")).get()
    try await world.settle(try #require(try await world.claim("a")), as: .authRefused)
    #expect(
      try await world.store.recover(QueueWorld.device, timing: world.timing).needsCredential)
    _ = try await world.store.command(
      .signOut(.drop), on: QueueWorld.device, timing: world.timing
    ).get()
    _ = try await world.store.command(
      .discard(MutationID("m_a")), on: QueueWorld.device, timing: world.timing
    ).get()
    // Nothing is held any more, and new mutations would wait forever if the queue was forgotten.
    #expect(try await world.store.queueDevices(after: "", limit: 10) == [QueueWorld.device])
    let renewed = try await world.store.renewCredential(
      "sealed", scope: .public, user: nil, of: QueueWorld.device, timing: world.timing)
    #expect(!renewed.needsCredential)
    #expect(try await world.store.queueDevices(after: "", limit: 10).isEmpty)
  }

  @Test("Settling can claim the next mutation in the same commit")
  func settlingCanClaimTheNextMutation() async throws {
    let world = try await QueueWorld()
    for (key, rule) in [("a", UnknownOutcomeRule.sendAgain), ("b", .sendAgain), ("c", .park)] {
      _ = try await world.enqueue(QueueWorld.arrival(key, mode: .steady, rule: rule)).get()
    }
    func settle(_ claimed: ClaimedMutation) async throws -> SettledMutation {
      try await world.store.settle(
        MutationSettlement(
          claim: claimed.claim, outcome: .applied(created: [:]), othersSucceeded: nil),
        goesOn: true, of: QueueWorld.device, timing: world.timing
      ).answer
    }
    let first = try #require(try await world.claim("a"))
    let next = try #require(try await settle(first).next)
    #expect(next.mutation.id == MutationID("m_b"))
    #expect(try await world.state("a") == .applied)
    #expect(try await world.state("b") == .inflight)
    // Its claim must survive more than this commit's durability.
    #expect(try await settle(next).next == nil)
    #expect(try await world.state("c") == .queued)
    // A late end that no longer counts claims nothing.
    let late = try await settle(first)
    #expect(late.mutation == nil && late.next == nil)
  }

  /// Otherwise a caller that is refused repeatedly would have all queues read again each time.
  @Test("A refusal before any write keeps the queues in memory")
  func aRefusalKeepsQueuesInMemory() async throws {
    var world = try await QueueWorld()
    world.policy.itemsMax = 1
    _ = try await world.enqueue(QueueWorld.arrival("a", mode: .steady)).get()
    func isKnown() async throws -> Bool {
      try await world.store.writer.write { _, memory in
        memory.queues.contains(QueueWorld.device)
      }
    }
    let full = try await world.enqueue(QueueWorld.arrival("b", object: .film("2")))
    #expect(throws: ArrivalRefusal.refused(.queueFull(itemsMax: 1), index: 0)) { try full.get() }
    #expect(try await isKnown())
    let command = try await world.store.command(
      .discard(MutationID("m_a")), on: QueueWorld.device, timing: world.timing)
    #expect(throws: CommandRefusal.wrongState(.queued)) { try command.get() }
    #expect(try await isKnown())
    // Here the first mutation was written; it is rolled back and the queue in memory discarded.
    world.policy.itemsMax = 2
    let second = try await world.enqueue(
      QueueWorld.arrival("c", object: .film("3")), QueueWorld.arrival("d", object: .film("4")))
    #expect(throws: ArrivalRefusal.refused(.queueFull(itemsMax: 2), index: 1)) { try second.get() }
    #expect(try await !isKnown())
    #expect(try await world.fixture.count("mutation") == 1)
  }
}
