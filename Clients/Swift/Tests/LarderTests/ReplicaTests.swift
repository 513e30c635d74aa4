import Foundation
import GRDB
import Testing

@testable import Larder

struct ReplicaTests {
  private let store: PhoneStore

  init() async throws {
    store = try PhoneStore(url: nil)
    try await store.write { db in try db.execute(sql: "INSERT INTO profile (id) VALUES ('p')") }
  }

  private func follow(_ name: String, _ definition: String) async throws {
    try await store.write { db in try ReplicaRows(db, "p").follow(name, definition) }
  }

  /// Applies a page to the following of a position.
  private func apply(_ index: Int, _ changes: [JSONValue], cursor: String) async throws {
    try await store.write { db in
      let following = try ReplicaRows(db, "p").followings()[index]
      var pull = try Pull(
        following: following.number, definition: following.definition, cursor: following.cursor)
      _ = try pull.take(
        ["changes": .array(changes), "cursor": .string(cursor), "complete": true])
      try ReplicaRows(db, "p").apply(pull)
      try OverlayRows(db, "p").refoldAll()
    }
  }

  private func put(_ id: String, _ title: String) -> JSONValue {
    [
      "op": "put", "type": "Film", "id": .string(id),
      "data": ["__typename": "Film", "id": .string(id), "title": .string(title)],
    ]
  }

  private func remove(_ id: String) -> JSONValue {
    ["op": "del", "type": "Film", "id": .string(id)]
  }

  private func titles() async throws -> [String: String] {
    try await store.read { db in
      let films = try LocalDatabase(db: db, profile: "p").all()["Film"] ?? [:]
      return films.mapValues { $0["title"]?.string ?? "" }
    }
  }

  @Test("A snapshot replaces what its following had, and deltas change it")
  func appliesSnapshotsAndDeltas() async throws {
    try await follow("films", #"{"types":["Film"]}"#)
    try await apply(0, [put("f1", "One"), put("f2", "Two")], cursor: "1")
    try await apply(0, [put("f2", "2"), remove("f1"), put("f3", "Three")], cursor: "2")
    #expect(try await titles() == ["f2": "2", "f3": "Three"])
    try await store.write { db in try db.execute(sql: "UPDATE following SET cursor = NULL") }
    try await apply(0, [put("f3", "3")], cursor: "3")
    #expect(try await titles() == ["f3": "3"])
  }

  @Test("An entity stays as long as one following has it")
  func keepsHeldEntities() async throws {
    try await follow("new", #"{"types":["Film"],"filter":"year > 2000"}"#)
    try await follow("good", #"{"types":["Film"],"filter":"stars > 3"}"#)
    try await apply(0, [put("f1", "One"), put("f2", "Two")], cursor: "1")
    try await apply(1, [put("f2", "Two"), put("f3", "Three")], cursor: "2")
    try await apply(0, [remove("f1"), remove("f2")], cursor: "3")
    #expect(try await titles() == ["f2": "Two", "f3": "Three"])
    try await store.write { db in try ReplicaRows(db, "p").unfollow("good") }
    #expect(try await titles() == [:])
  }

  @Test("A following with another filter shows its former entities until its snapshot is complete")
  func keepsFormerEntities() async throws {
    try await follow("films", #"{"types":["Film"],"filter":"year > 2000"}"#)
    try await apply(0, [put("f1", "One")], cursor: "1")
    try await follow("films", #"{"types":["Film"],"filter":"year > 1990"}"#)
    #expect(try await titles() == ["f1": "One"])
    try await apply(0, [put("f2", "Two")], cursor: "2")
    #expect(try await titles() == ["f2": "Two"])
  }

  @Test("What the app sees is the fold of the overlays over the replica", arguments: [1, 2, 3, 4])
  func foldsOverlays(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    try await follow("films", #"{"types":["Film"]}"#)
    var replica: [String: String] = [:]
    var items: [(number: Int, steps: [OptimisticChange])] = []
    for round in 0..<60 {
      let id = "f\(Int.random(in: 1...4, using: &random))"
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        replica[id] = "r\(round)"
        try await apply(0, [put(id, "r\(round)")], cursor: "\(round)")
      case 1:
        replica[id] = nil
        try await apply(0, [remove(id)], cursor: "\(round)")
      case 2 where !items.isEmpty:
        let ended = items.remove(at: Int.random(in: 0..<items.count, using: &random))
        try await store.write { db in try OutboxRows(db, "p").remove(ended.number) }
      default:
        let kinds: [OptimisticChange.Kind] = [.merge, .create, .delete]
        let steps = (0...Int.random(in: 0...1, using: &random)).map { step in
          OptimisticChange(
            kinds.randomElement(using: &random) ?? .merge, type: "Film", id: id,
            fields: ["title": .string("o\(round).\(step)")])
        }
        let number = try await store.write { db in
          try OutboxRows(db, "p").add(
            operation: "X", payload: [:], isForced: false, overlay: steps
          ).number
        }
        items.append((number, steps))
      }
      var expected = replica
      for step in items.flatMap(\.steps) {
        switch step.kind {
        case .delete: expected[step.id] = nil
        case .merge where expected[step.id] == nil: break
        case .merge, .create: expected[step.id] = step.fields["title"]?.string
        }
      }
      #expect(try await titles() == expected, "seed \(seed), round \(round)")
    }
  }

  @Test("An entity shows once when its real id becomes known, and is found by both")
  func resolvesTemporaryIDs() async throws {
    try await follow("films", #"{"types":["Film"]}"#)
    let temporary = TemporaryID.make(at: Date())
    try await store.write { db in
      let created = OptimisticChange(
        .create, type: "Film", id: temporary, fields: ["title": "New", "twin": .string(temporary)])
      let rows = OutboxRows(db, "p")
      _ = try rows.add(operation: "X", payload: [:], isForced: false, overlay: [created])
      try rows.take(["m1": .object(["temporaryIds": .object([temporary: "f9"])])], accepted: [])
    }
    try await apply(0, [put("f9", "Old")], cursor: "1")
    #expect(try await titles() == ["f9": "New"])
    let found = try await store.read { db in
      try LocalDatabase(db: db, profile: "p").entity("Film", key: temporary)
    }
    #expect(found?["id"] == "f9")
    #expect(found?["twin"] == "f9")
  }
}
