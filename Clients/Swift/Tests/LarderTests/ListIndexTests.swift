import Foundation
import GRDB
import Testing

@testable import Larder

/// Lists that are read by an index, beside the same ones read without.
struct ListIndexTests {
  private static func store(url: URL? = nil) throws -> PhoneStore { try PhoneStore(url: url) }

  private static func fill(
    _ store: PhoneStore, _ rows: [(type: String, id: String, data: JSONValue)]
  ) async throws {
    try await store.write { db in
      for profile in ["p", "q"] {
        try db.execute(sql: "INSERT OR IGNORE INTO profile (id) VALUES (?)", arguments: [profile])
        for row in rows {
          try db.execute(
            sql: "INSERT OR REPLACE INTO replica (profile, type, id, data) VALUES (?, ?, ?, ?)",
            arguments: [profile, row.type, row.id, row.data.text])
        }
      }
    }
  }

  private static func films(_ count: Int) -> [(type: String, id: String, data: JSONValue)] {
    (0..<count).map { number in
      let year = JSONNumber(1950 + number % 70)
      let data: JSONValue = [
        "year": .number(year), "title": .string("Film \(number * 7919 % count)"),
      ]
      return (type: "Film", id: "f\(number)", data: data)
    }
  }

  private static func plan(_ store: PhoneStore, _ query: EntityQuery) async throws -> [String] {
    try await store.read { db in
      let sql = query.page(profile: "p")
      return try Row.fetchAll(
        db, sql: "EXPLAIN QUERY PLAN " + sql.text, arguments: StatementArguments(sql.arguments)
      ).map { $0["detail"] }
    }
  }

  private static func indexes(_ store: PhoneStore) async throws -> [String] {
    try await store.read { db in
      try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'list *'")
    }
  }

  private static func make(_ store: PhoneStore, _ query: EntityQuery) async throws -> Bool {
    await store.use(try #require(ListIndex(query)), canMake: true)
  }

  // MARK: Results

  @Test(
    "An index, overlays and literal paths change no result, whatever the values",
    arguments: 1...8 as ClosedRange<UInt64>)
  func keepsResults(seed: UInt64) async throws {
    var random = RandomLists(seed: seed)
    let store = try Self.store()
    try await Self.fill(store, (0..<700).map { _ in random.row() })
    var readByIndex = 0
    for round in 0..<40 {
      for _ in 0..<3 {
        let change = random.change()
        try await store.write { db in
          _ = try OutboxRows(db, "p").add(
            operation: "X", payload: [:], isForced: false, overlay: [change])
        }
      }
      try await Self.fill(store, [random.row()])
      let query = random.query()
      let expected = try await store.read { db in try ReferenceList(query).rows(db, "p") }
      let index = ListIndex(query)
      for isIndexed in [false, true] {
        if isIndexed, let index { _ = await store.use(index, canMake: true) }
        let found = try await store.read { db in
          try LocalDatabase(db: db, profile: "p").rows(query, isRepeated: round % 2 == 0)
        }
        #expect(
          found.map { [$0.id, $0.content] } == expected,
          "seed \(seed), round \(round), indexed \(isIndexed): \(query)")
      }
      let plan = try await Self.plan(store, query)
      if plan.contains(where: { $0.contains("INDEX list ") }) { readByIndex += 1 }
    }
    #expect(readByIndex > 10, "seed \(seed)")
  }

  @Test("An observed list of many entities gets its index, and each change that a read shows")
  func observes() async throws {
    var random = SeededGenerator(seed: 11)
    let changes = Self.films(600).map { film -> JSONValue in
      ["op": "put", "type": .string(film.type), "id": .string(film.id), "data": film.data]
    }
    let transport = ScriptedLarder.withAccount { request in
      let isFilms = request.query.contains { $0.value == "Film" }
      return (
        200, ["changes": isFilms ? .array(changes) : [], "cursor": "c", "complete": true]
      )
    }
    let larder = try await ScriptedLarder.registered(transport)
    try await larder.follow("films", types: ["Film"])
    try await larder.sync()
    let query = EntityQuery(
      type: "Film", order: [.init("year", isDescending: true), .init("title")], limit: 20)
    var updates = larder.observe(query).makeAsyncIterator()
    var shown = try #require(try await updates.next()).items
    for round in 0..<40 {
      let year = JSONNumber(Int.random(in: 2015...2030, using: &random))
      let operation: JSONValue = [
        "op": "update", "type": "Film",
        "id": .string("f\(Int.random(in: 0..<600, using: &random))"),
        "data": ["year": .number(year), "round": .number(JSONNumber(round))],
      ]
      // Another type before: no result may be missed, and none may come for it.
      try await larder.write([["op": "update", "type": "Other", "id": "o", "data": [:]]])
      try await larder.write([operation])
      let present = try await larder.read { db in try db.entities(query) }
      if present != shown {
        let update = try #require(try await updates.next())
        shown = try update.diff.applied(to: shown) { update.items[$0] }
        #expect(update.items == shown, "round \(round)")
      }
      #expect(present == shown, "round \(round)")
    }
    #expect(try await Self.indexes(larder.store).count == 1)
  }

  @Test("A text of other bytes is a change, also where Swift's comparison finds it equal")
  func comparesBytes() async throws {
    let transport = ScriptedLarder { try #require(ScriptedLarder.account($0)) }
    let larder = try await ScriptedLarder.registered(transport)
    let query = EntityQuery(type: "Film", order: [.init("title")])
    var updates = larder.observe(query).makeAsyncIterator()
    _ = try await updates.next()
    for title in ["Cl\u{E9}o", "Cle\u{301}o"] {
      let operation: JSONValue = [
        "op": "insertOrUpdate", "type": "Film", "id": "f1", "data": ["title": .string(title)],
      ]
      let key = try await larder.write([operation])
      let update = try #require(try await updates.next())
      let shown = try #require(update.items.first?["title"]?.string)
      #expect(Array(shown.utf8) == Array(title.utf8))
      #expect(update.items.first?["_pending"]?.array?.last == .string(key))
    }
  }

  // MARK: Plans

  @Test(
    "A page is read in order by its index, without sorting",
    arguments: [
      EntityQuery(
        type: "Film", conditions: [.compare("year", .greater, 2000)],
        order: [.init("year", isDescending: true)], limit: 50),
      EntityQuery(type: "Film", order: [.init("title")], limit: 50),
      EntityQuery(
        type: "Film", conditions: [.compare("title", .notEqual, "x")],
        order: [.init("year", isDescending: true), .init("title")], limit: 50, offset: 20),
      EntityQuery(
        type: "Film",
        conditions: [
          .and(.compare("year", .equal, 1999), .contains("title", "1")), .isNull("mood"),
        ], order: [.init("title", isDescending: true), .init("year")], limit: 50),
      EntityQuery(type: "Film", conditions: [.compare("year", .equal, 1999)]),
    ])
  func readsByIndex(query: EntityQuery) async throws {
    let store = try Self.store()
    try await Self.fill(store, Self.films(500))
    #expect(try await Self.make(store, query))
    let plan = try await Self.plan(store, query)
    let left = try #require(plan.firstIndex(of: "LEFT"))
    let right = try #require(plan.firstIndex(of: "RIGHT"))
    #expect(plan[left + 1].contains("replica USING INDEX list "), "\(plan)")
    #expect(!plan[left..<right].contains { $0.contains("TEMP B-TREE") }, "\(plan)")
  }

  @Test(
    "A complete list, one without order, and names that are none of GraphQL get no index",
    arguments: [
      EntityQuery(type: "Film", order: [.init("year")]),
      EntityQuery(type: "Film", conditions: [.compare("year", .less, 5)], limit: 3),
      EntityQuery(type: "Film", order: [.init("ye\"ar")], limit: 3),
      EntityQuery(type: "Film", order: [.init("1")], limit: 3),
      EntityQuery(type: "Film", order: [.init("")], limit: 3),
      EntityQuery(type: "Film", order: [.init("a', '$')) --")], limit: 3),
      EntityQuery(type: "It's", order: [.init("year")], limit: 3),
      EntityQuery(type: "Film", order: ["a", "b", "c", "d", "e"].map { .init($0) }, limit: 3),
    ])
  func getsNoIndex(query: EntityQuery) {
    #expect(ListIndex(query) == nil)
  }

  // MARK: The store

  @Test("The least recently used index gives way, and few entities get none")
  func dropsIndexes() async throws {
    let store = try Self.store()
    // Two of them differ in case alone.
    let fields =
      ["field0", "field1", "FIELD1"] + (3...PhoneStore.listIndexesMax).map { "field\($0)" }
    let queries = fields.map { EntityQuery(type: "Film", order: [.init($0)], limit: 9) }
    // In each of two profiles.
    try await Self.fill(store, Self.films(PhoneStore.indexedEntitiesMin / 2 - 1))
    #expect(try await !Self.make(store, queries[0]))
    try await Self.fill(store, Self.films(PhoneStore.indexedEntitiesMin / 2))
    for query in queries.dropLast() { #expect(try await Self.make(store, query)) }
    #expect(try await Self.make(store, queries[0]))
    #expect(try await Self.make(store, queries[PhoneStore.listIndexesMax]))
    let names = try await Self.indexes(store)
    #expect(names.count == PhoneStore.listIndexesMax)
    #expect(!names.contains { $0.hasSuffix(" +field1") })
    #expect(names.contains { $0.hasSuffix(" +field0") })
    #expect(Set(store.listIndexes.withLock { $0 }) == Set(names))
    let dropped = try #require(ListIndex(queries[1]))
    #expect(await !store.use(dropped, canMake: false))
  }

  @Test("Indexes stay for the next process, unless it has another version of SQLite")
  func keepsIndexes() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("larder.sqlite")
    let query = EntityQuery(type: "Film", order: [.init("year")], limit: 9)
    let first = try Self.store(url: file)
    try await Self.fill(first, Self.films(500))
    #expect(try await Self.make(first, query))
    try await first.write { db in
      try db.execute(sql: "CREATE INDEX \"list 3.1.0 Film +title\" ON replica (id)")
    }
    let names = try await Self.indexes(first).filter { !$0.contains(" 3.1.0 ") }
    let second = try Self.store(url: file)
    #expect(try await Self.indexes(second) == names)
    #expect(await second.use(try #require(ListIndex(query)), canMake: false))
  }

  @Test("Without space for an index a list is read without it")
  func readsWithoutSpace() async throws {
    let store = try Self.store()
    try await Self.fill(store, Self.films(500))
    store.setFull(true)
    let query = EntityQuery(type: "Film", order: [.init("year")], limit: 9)
    #expect(try await !Self.make(store, query))
    let rows = try await store.read { db in
      try LocalDatabase(db: db, profile: "p").rows(query).map(\.id)
    }
    #expect(rows.count == 9)
  }

  @Test("A type's version grows with each change of what shows of it, and with no other")
  func countsChanges() async throws {
    let store = try Self.store()
    try await Self.fill(store, Self.films(3))
    func expect(
      _ isChange: Bool, _ name: String, _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws {
      let (film, other) = (store.version(of: "Film"), store.version(of: "Other"))
      try await store.write(body)
      #expect((store.version(of: "Film") > film) == isChange, "\(name)")
      #expect(store.version(of: "Other") == other, "\(name)")
    }
    let put = "INSERT INTO replica (profile, type, id, data) VALUES ('p', 'Film', 'f1', ?)"
    let update = put + " ON CONFLICT DO UPDATE SET data = excluded.data"
    try await expect(true, "a new entity") { db in
      try db.execute(
        sql: "INSERT INTO replica (profile, type, id, data) VALUES ('p', 'Film', 'new', '{}')")
    }
    try await expect(true, "new data") { db in try db.execute(sql: update, arguments: ["{}"]) }
    try await expect(false, "the same data") { db in try db.execute(sql: update, arguments: ["{}"])
    }
    let overlay = OptimisticChange(.merge, type: "Film", id: "f1", fields: ["year": 1])
    for kind in [overlay, overlay, OptimisticChange(.delete, type: "Film", id: "f2")] {
      try await expect(true, "an overlay") { db in
        _ = try OutboxRows(db, "p").add(
          operation: "X", payload: [:], isForced: false, overlay: [kind])
      }
    }
    for number in 1...3 {
      try await expect(true, "an overlay that ends") { db in try OutboxRows(db, "p").remove(number)
      }
    }
    try await expect(false, "an item without overlay") { db in
      _ = try OutboxRows(db, "p").add(operation: "X", payload: [:], isForced: false, overlay: [])
    }
    try await expect(true, "entities that no following has") { db in
      try ReplicaRows(db, "p").follow("films", #"{"types":["Film"]}"#)
      try ReplicaRows(db, "p").unfollow("films")
    }
    let before = (store.version(of: "Film"), store.version(of: "Other"))
    store.reportSwitch()
    #expect(store.version(of: "Film") > before.0)
    #expect(store.version(of: "Other") > before.1)
  }
}
