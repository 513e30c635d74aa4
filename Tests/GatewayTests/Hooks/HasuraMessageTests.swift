import LosslessJSON
import Model
import Testing

@testable import Gateway

/// Event triggers of Hasura, from the body to the store.
struct HasuraMessageTests {
  private static let row: JSONValue = [
    "item_id": 7, "name": "One", "price": 12.50, "owner_id": "o1", "internal": "x", "kind": "NEW",
    "unknown_column": [1, 2],
  ]

  private static func receipt(_ outcome: HookService.Outcome) -> HookReceipt? {
    if case .applied(let receipt) = outcome { receipt } else { nil }
  }

  @Test("A row is stored by its table's columns", arguments: ["INSERT", "UPDATE", "MANUAL"])
  func rowsAreStored(operation: String) async throws {
    let world = try HookWorld()
    let outcome = try await world.hasura(
      HookWorld.event(operation, old: operation == "UPDATE" ? Self.row : .null, new: Self.row))
    #expect(Self.receipt(outcome)?.written == 1)
    #expect(
      try await world.fields("Item", "7")?.canonicalText
        == #"{"id":"7","name":"One","owner":{"$ref":["Owner","o1"]},"price":12.5,"status":"NEW"}"#)
  }

  @Test("A deleted row is deleted, and lists become due for added and removed rows")
  func rowsAreDeleted() async throws {
    let world = try HookWorld()
    _ = try await world.hasura(HookWorld.event("INSERT", new: Self.row))
    let before = world.epoch.value
    let outcome = try await world.hasura(
      HookWorld.event("DELETE", id: "e2", old: Self.row, created: "2026-01-02T03:04:06Z"))
    #expect(Self.receipt(outcome)?.deleted == 1)
    #expect(try await world.fields("Item", "7") == nil)
    #expect(world.epoch.value > before)
  }

  @Test("A row with another key replaces the one with the old key")
  func changedKeysReplaceRows() async throws {
    let world = try HookWorld()
    _ = try await world.hasura(HookWorld.event("INSERT", new: Self.row))
    var moved = Self.row
    moved["item_id"] = 8
    let outcome = try await world.hasura(
      HookWorld.event(
        "UPDATE", id: "e2", old: Self.row, new: moved, created: "2026-01-02T03:04:06Z"))
    #expect(Self.receipt(outcome)?.written == 1)
    #expect(Self.receipt(outcome)?.deleted == 1)
    #expect(try await world.fields("Item", "7") == nil)
    #expect(try await world.fields("Item", "8")?["name"] == "One")
  }

  @Test("Retries are ignored by id, and late events by their time")
  func retriesAndLateEventsAreIgnored() async throws {
    let world = try HookWorld()
    var newer = Self.row
    newer["name"] = "Newer"
    let second = HookWorld.event("UPDATE", id: "e2", new: newer, created: "2026-01-02T03:04:06.5Z")
    _ = try await world.hasura(second)
    guard case .repeated = try await world.hasura(second) else {
      Issue.record("not recognised")
      return
    }
    let first = HookWorld.event(
      "INSERT", id: "e1", new: Self.row, created: "2026-01-02T03:04:06.25")
    #expect(Self.receipt(try await world.hasura(first))?.outdated == 1)
    #expect(try await world.fields("Item", "7")?["name"] == "Newer")
  }

  @Test(
    "A table that the settings do not name is ignored, with its name",
    arguments: [
      ("other", "public", "hooks.in.hasura.tables does not name other"),
      ("item", "archive", "hooks.in.hasura.tables does not name archive.item"),
      ("unseen", "public", "no operation selects the type Unseen"),
    ])
  func unnamedTablesAreIgnored(table: String, schema: String, reason: String) async throws {
    let world = try HookWorld()
    let outcome = try await world.hasura(
      HookWorld.event("INSERT", new: Self.row, table: table, schema: schema))
    guard case .ignored(let given) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(given == reason)
    #expect(world.service.summaries.first?.counts.outcomes[.ignored] == 1)
    #expect(world.service.summaries.first?.counts.lastIgnored == reason)
  }

  @Test("A table of another schema has settings of its own")
  func schemasAreDistinct() async throws {
    let world = try HookWorld()
    _ = try await world.hasura(
      HookWorld.event("INSERT", new: ["id": "o9", "name": "Ada"], table: "item", schema: "shop"))
    #expect(try await world.fields("Owner", "o9")?["name"] == "Ada")
  }

  struct Faulty: Sendable, CustomStringConvertible {
    let body: JSONValue
    let places: [String]
    var description: String { body.text }
  }

  @Test(
    "Faults of an event are named by their place, columns by their own names",
    arguments: [
      Faulty(body: [:], places: ["/id", "/table/name", "/event/op"]),
      Faulty(body: HookWorld.event("TRUNCATE"), places: ["/event/op"]),
      Faulty(body: HookWorld.event("INSERT"), places: ["/event/data/new"]),
      Faulty(body: HookWorld.event("DELETE", new: row), places: ["/event/data/old"]),
      Faulty(body: HookWorld.event("MANUAL"), places: ["/event/data"]),
      Faulty(body: HookWorld.event("INSERT", id: "", new: row), places: ["/id"]),
      Faulty(
        body: HookWorld.event("INSERT", new: row, created: "today"), places: ["/created_at"]),
      Faulty(
        body: HookWorld.event("INSERT", new: ["name": 7, "kind": "BROKEN"]),
        places: ["/event/data/new/name", "/event/data/new/kind", "/event/data/new/id"]),
      Faulty(body: HookWorld.event("DELETE", old: ["name": "x"]), places: ["/event/data/old"]),
    ])
  func faultsAreNamed(faulty: Faulty) async throws {
    let world = try HookWorld()
    let failure = await failure { try await world.hasura(faulty.body) }
    #expect(failure?.code == .invalidWebhook)
    let places = failure?.details.map { fault -> String in
      if case .pointer(let pointer) = fault.place { pointer } else { "" }
    }
    #expect(places == faulty.places)
  }
}
