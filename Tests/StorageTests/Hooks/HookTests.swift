import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Messages of webhooks: each is stored once, whole or not at all, and its id is kept for a time.
struct HookTests {
  @Test("A message is stored once, also after a restart")
  func aMessageIsStoredOnce() async throws {
    let folder = TemporaryFolder()
    var fixture = try StoreFixture(folder)
    let first = HookDelivery.of("e1", films: [("1", ["title": "A"])])
    #expect(try await fixture.receive(first, from: 1) == [HookReceipt.of(written: 1)])
    let other = HookDelivery.of("e1", films: [("1", ["title": "B"])])
    #expect(try await fixture.receive(other, from: 2) == [HookReceipt.repeated])
    fixture.store.close()
    fixture = try StoreFixture(folder, segment: 2)
    #expect(try await fixture.receive(other, from: 3) == [HookReceipt.repeated])
    #expect(try await fixture.title(of: "1") == "A")
    let ofOther = HookDelivery.of("e1", films: [("1", ["title": "C"])], hook: "shop")
    #expect(try await fixture.receive(ofOther, from: 4) == [HookReceipt.of(written: 1)])
    #expect(try await fixture.title(of: "1") == "C")
    #expect(try await fixture.store.hookEventCounts() == ["films": 1, "shop": 1])
  }

  @Test("Messages of one transaction are applied in their order")
  func messagesOfATransactionAreInOrder() async throws {
    let fixture = try StoreFixture()
    var deletion = HookDelivery.of("e2")
    deletion.deletions = [.film("1")]
    let receipts = try await fixture.receive(
      HookDelivery.of("e1", films: [("1", ["title": "A"])]), deletion,
      HookDelivery.of("e3", films: [("2", ["title": "B"])]), HookDelivery.of("e1"), from: 1)
    #expect(
      receipts == [
        HookReceipt.of(written: 1), HookReceipt.of(deleted: 1), HookReceipt.of(written: 1),
        HookReceipt.repeated,
      ])
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await fixture.store.entity(.film("1"), viewer: .anonymous)?.isDeleted == true)
    #expect(try await fixture.title(of: "2") == "B")
  }

  @Test("A call in flight does not undo a message, a later one replaces it")
  func callOrderHolds() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.receive(
      HookDelivery.of("e1", films: [("1", ["title": "Pushed"])]), from: 3, horizon: 2)
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("1", ["title": "Old"]).build())
    #expect(try await fixture.title(of: "1") == "Pushed")
    _ = try await fixture.store.apply(ResponseBuilder(call: 4).film("1", ["title": "New"]).build())
    #expect(try await fixture.title(of: "1") == "New")
  }

  @Test("Ids are kept for as long as they can be replayed, and no more than a limit after that")
  func idsAreBounded() async throws {
    let fixture = try StoreFixture()
    var retention = HookRetention()
    retention.rows = 10
    retention.rowsMax = 100
    var call: Int64 = 0
    func receive(_ numbers: Range<Int>, at received: Int64) async throws {
      for number in numbers {
        call += 1
        _ = try await fixture.receive(
          HookDelivery.of(
            "e\(number)", at: Int64(number), received: received,
            films: [("\(number)", ["title": "A"])]),
          from: call, retention: retention)
      }
    }
    try await receive(0..<80, at: 0)
    #expect(try await fixture.count("hook_event") == 80)
    #expect(try await fixture.count("hook_moment") == 10)
    try await receive(80..<150, at: 599_000)
    #expect(try await fixture.count("hook_event") == 100)
    try await receive(150..<160, at: 601_000)
    #expect(try #require(try await fixture.count("hook_event")) < 100)
    try await receive(160..<300, at: 2_000_000)
    #expect(try #require(try await fixture.count("hook_event")) <= 140)
    try await receive(300..<310, at: 8 * 86_400_000)
    #expect(try #require(try await fixture.count("hook_event")) < 140)
    // One that was removed is taken again.
    let again = try await fixture.receive(
      HookDelivery.of("e0", received: 8 * 86_400_000), from: call + 1)
    #expect(again == [HookReceipt()])
  }

  @Test("A message that cannot be stored leaves nothing of its transaction")
  func failuresLeaveNothing() async throws {
    let fixture = try StoreFixture()
    var unknown = HookDelivery.of("e2")
    unknown.deletions = [EntityKey(type: "Nobody", key: "1")]
    await #expect(throws: StorageError.self) {
      _ = try await fixture.receive(
        HookDelivery.of("e1", films: [("1", ["title": "A"])]), unknown, from: 1)
    }
    #expect(try await fixture.title(of: "1") == nil)
    let again = try await fixture.receive(
      HookDelivery.of("e1", films: [("1", ["title": "A"])]), from: 3)
    #expect(again == [HookReceipt.of(written: 1)])
  }
}
