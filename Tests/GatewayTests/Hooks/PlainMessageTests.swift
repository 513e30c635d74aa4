import LosslessJSON
import Model
import Testing

@testable import Gateway

/// Plain webhooks, from the signed body to the store.
struct PlainMessageTests {
  @Test("Updates, deletions and invalidations are applied together")
  func messagesAreApplied() async throws {
    let world = try HookWorld()
    let outcome = try await world.plain([
      "updates": [
        ["__typename": "Item", "id": "1", "name": "One", "owner": ["id": "o", "name": "Ada"]],
        ["__typename": "Item", "id": "2", "name": "Two"],
      ],
      "invalidates": ["Items", "tag:list", "Owner", "Item:9"],
    ])
    guard case .applied(let receipt) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(receipt.written == 3)
    #expect(try await world.fields("Item", "1")?["name"] == "One")
    #expect(try await world.fields("Owner", "o")?["name"] == "Ada")
    _ = try await world.plain(["deletes": ["Item:1"]], id: "m2")
    #expect(try await world.fields("Item", "1") == nil)
    #expect(try await world.fields("Item", "2")?["name"] == "Two")
  }

  @Test("The same id again changes nothing, whatever the body says")
  func repeatedMessagesChangeNothing() async throws {
    let world = try HookWorld()
    _ = try await world.plain(["updates": [["__typename": "Item", "id": "1", "name": "One"]]])
    let again = try await world.plain([
      "updates": [["__typename": "Item", "id": "1", "name": "Other"]]
    ])
    guard case .repeated = again else {
      Issue.record("\(again)")
      return
    }
    #expect(try await world.fields("Item", "1")?["name"] == "One")
  }

  @Test("Faults anywhere are all named, and nothing is stored")
  func faultsAreNamed() async throws {
    let world = try HookWorld()
    let failure = await failure {
      try await world.plain([
        "updates": [
          ["__typename": "Item", "id": "1", "name": "One"],
          ["__typename": "Item", "id": "2", "nmae": "Two", "status": "BROKEN"],
        ],
        "deletes": ["Item", 7, "Nothing:1"], "invalidates": ["Itmes", 3, "tag:none"],
        "timestamp": "yesterday", "extra": 1,
      ])
    }
    #expect(failure?.code == .invalidWebhook)
    let places = failure?.details.map { fault -> String in
      if case .pointer(let pointer) = fault.place { pointer } else { "" }
    }
    #expect(
      places == [
        "/extra", "/timestamp", "/updates/1/nmae", "/updates/1/status", "/deletes/0", "/deletes/1",
        "/deletes/2", "/invalidates/0", "/invalidates/1", "/invalidates/2",
      ])
    #expect(try await world.fields("Item", "1") == nil)
    // The id is not used up: the sender can send a valid body.
    _ = try await world.plain(["updates": [["__typename": "Item", "id": "1", "name": "One"]]])
    #expect(try await world.fields("Item", "1")?["name"] == "One")
  }

  @Test("An entity cannot be updated and deleted at once")
  func contradictionsAreRefused() async throws {
    let world = try HookWorld()
    let failure = await failure {
      try await world.plain([
        "updates": [["__typename": "Item", "id": "1", "name": "One"]], "deletes": ["Item:1"],
      ])
    }
    #expect(failure?.code == .invalidWebhook)
  }

  @Test("Long lists are refused", arguments: ["updates", "deletes", "invalidates"])
  func longListsAreRefused(name: String) async throws {
    let world = try HookWorld()
    let list = JSONValue.array(Array(repeating: "Item:1", count: PlainMessage.elementsMax + 1))
    let failure = await failure { try await world.plain(.object([JSONMember(name, list)])) }
    #expect(failure?.details.count == 1)
  }

  @Test("A message with a timestamp is late if a newer change was reported")
  func lateMessagesAreIgnored() async throws {
    let world = try HookWorld()
    func send(_ name: String, _ timestamp: String, _ id: String) async throws -> HookReceipt? {
      let outcome = try await world.plain(
        [
          "timestamp": .string(timestamp),
          "updates": [["__typename": "Item", "id": "1", "name": .string(name)]],
        ], id: id)
      if case .applied(let receipt) = outcome { return receipt }
      return nil
    }
    #expect(try await send("New", "2026-01-02T03:04:05.2Z", "m1")?.written == 1)
    #expect(try await send("Old", "2026-01-02T04:04:05.1+01:00", "m2")?.outdated == 1)
    #expect(try await world.fields("Item", "1")?["name"] == "New")
  }

  @Test("Types that no operation selects are ignored")
  func unselectedTypesAreIgnored() async throws {
    let world = try HookWorld()
    let outcome = try await world.plain([
      "updates": [["__typename": "Unseen", "id": "1"]], "deletes": ["Unseen:2"],
    ])
    guard case .ignored = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test("A field that only its owner is shown does not reach the public copy")
  func privateFieldsAreNotStored() async throws {
    let world = try HookWorld()
    _ = try await world.plain([
      "updates": [["__typename": "Item", "id": "1", "name": "One", "secret": "s3cr3t"]]
    ])
    #expect(try await world.fields("Item", "1") == ["id": "1", "name": "One"])
  }
}
