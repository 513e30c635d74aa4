import Foundation
import Testing

@testable import Larder

/// A type as `larder generate swift` writes it.
struct Film: Entity {
  static let typeName = "Film"
  static let keyFields = ["id"]
  static let isLocal = false
  static let columns = Columns()

  var id: String
  var title: String
  var year: Int
  var mood: Mood?

  struct Columns: Sendable {
    let id = Column<String>("id")
    let title = Column<String>("title")
    let year = Column<Int>("year")
    let mood = Column<Mood>("mood")
  }
}

extension Film {
  init(_ id: String) {
    self.init(id: id, title: id, year: 2000)
  }
}

extension Larder {
  /// The titles of the films, in order.
  func titles() async throws -> [String] {
    try await read { db in try Film.all.order(\.title).fetchAll(db).map(\.title) }
  }
}

enum Mood: RawRepresentable, Codable, Hashable, Sendable {
  case dark
  case unknown(String)

  init(rawValue: String) {
    self = rawValue == "DARK" ? .dark : .unknown(rawValue)
  }

  var rawValue: String {
    switch self {
    case .dark: "DARK"
    case .unknown(let value): value
    }
  }
}

struct TypedQueryTests {
  private static let films = [
    Film(id: "f1", title: "Cléo from 5 to 7", year: 1962, mood: .dark),
    Film(id: "f2", title: "Beau travail", year: 1999),
    Film(id: "f3", title: "Petite maman", year: 2021, mood: .unknown("LIGHT")),
    Film(id: "f4", title: "A \"quoted\" film", year: 1999),
  ]

  /// A phone without a network that shows the films.
  private static func phone() async throws -> Larder {
    let transport = ScriptedLarder { request in
      guard let answer = ScriptedLarder.account(request) else {
        throw LarderError.offline("flight mode", wasSent: false)
      }
      return answer
    }
    let larder = try await ScriptedLarder.registered(transport)
    for film in films { try await larder.save(film) }
    return larder
  }

  @Test("Conditions by key paths find what Swift's comparison does")
  func filters() async throws {
    let larder = try await Self.phone()
    func ids(_ query: TypedQuery<Film>) async throws -> [String] {
      try await larder.read { db in try query.fetchAll(db).map(\.id) }
    }
    #expect(try await ids(Film.all) == ["f1", "f2", "f3", "f4"])
    #expect(try await ids(Film.filter(\.year > 1990).order(\.title)) == ["f4", "f2", "f3"])
    #expect(try await ids(Film.filter(\.year > 1990 && \.year < 2000)) == ["f2", "f4"])
    #expect(try await ids(Film.filter(!(\.year == 1999))) == ["f1", "f3"])
    #expect(try await ids(Film.filter(\.title == "A \"quoted\" film")) == ["f4"])
    #expect(try await ids(Film.filter(.contains(\.title, "rav"))) == ["f2"])
    #expect(
      try await ids(Film.filter(.isIn(\.id, ["f3", "f9"]) || \.year < 1970)) == ["f1", "f3"])
    #expect(try await ids(Film.filter(\.mood == .dark)) == ["f1"])
    #expect(try await ids(Film.filter(\.mood != .dark)) == ["f3"])
    #expect(try await ids(Film.filter(.isNull(\.mood))) == ["f2", "f4"])
    #expect(
      try await ids(Film.all.order(\.year, isDescending: true).limit(2, offset: 1)) == ["f2", "f4"])
  }

  @Test("Entities are counted, found by key and grouped")
  func counts() async throws {
    let larder = try await Self.phone()
    try await larder.read { db in
      #expect(try Film.filter(\.year == 1999).limit(1).fetchCount(db) == 2)
      #expect(try Film.fetchOne(db, key: "f3") == Self.films[2])
      #expect(try Film.fetchOne(db, key: "f9") == nil)
      let sections = try Film.all.fetchSections(db, by: \.year, isDescending: true)
      #expect(sections.map(\.name) == [2021, 1999, 1962])
      #expect(sections.map(\.count) == [1, 2, 1])
    }
  }

  @Test("SQL reads the active profile's entities, and cannot write")
  func readsSQL() async throws {
    let larder = try await Self.phone()
    let sql = "SELECT data->>'title' AS title FROM entities WHERE type = 'Film' AND id = ?"
    let rows = try await larder.read { db in try db.rows(sql: sql, arguments: ["f2"]) }
    #expect(rows == [["title": "Beau travail"]])
    await #expect(throws: LarderError.self) {
      try await larder.read { db in try db.rows(sql: "DELETE FROM item") }
    }
    #expect(try await larder.outbox().count == 4)
  }

  @Test(
    "SQL reads nothing but the view",
    arguments: [
      "SELECT id FROM replica", "SELECT id FROM main.replica", "SELECT * FROM shown",
      "SELECT count(*) FROM item", "SELECT name FROM sqlite_schema",
      "SELECT count(*) FROM sqlite_temp_schema", "SELECT * FROM pragma_table_info('item')",
      "PRAGMA query_only = 0", "PRAGMA table_info(item)", "SELECT larderProfile()",
      "SELECT larderChanged('Film')", "ATTACH ':memory:' AS other", "SELECT 1; SELECT 2",
      "SELECT (SELECT max(id) FROM replica) FROM entities",
      "WITH a AS (SELECT * FROM item) SELECT * FROM a", "CREATE TEMP TABLE mine (id)",
    ])
  func refusesOtherTables(sql: String) async throws {
    let larder = try await Self.phone()
    #expect(
      await failure { _ = try await larder.read { db in try db.rows(sql: sql) } }?.code
        == "storage_failed")
    #expect(try await larder.outbox().count == 4)
  }

  @Test(
    "SQL over the view can be any query",
    arguments: [
      "SELECT count(*) AS n FROM entities",
      "WITH my_films AS (SELECT * FROM entities) SELECT count(*) AS n FROM my_films",
      "SELECT count(DISTINCT a.id) AS n FROM entities AS a JOIN entities AS b USING (type)",
      "SELECT count(*) AS n FROM entities, json_each(data) AS member WHERE member.key = 'title'",
      "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 4) "
        + "SELECT max(n) AS n FROM n",
      "SELECT n FROM (SELECT row_number() OVER (ORDER BY id) AS n FROM entities) ORDER BY n DESC",
    ])
  func readsAnyQuery(sql: String) async throws {
    let larder = try await Self.phone()
    #expect(try await larder.read { db in try db.rows(sql: sql) }.first == ["n": 4])
  }

  @Test("An observed query brings each change with its steps, over 60 random rounds")
  func observes() async throws {
    var random = SeededGenerator(seed: 5)
    let larder = try await Self.phone()
    var updates = larder.observe(Film.filter(\.year > 1990).order(\.title)).makeAsyncIterator()
    var shown = try #require(try await updates.next()).items
    #expect(shown.map(\.id) == ["f4", "f2", "f3"])
    for round in 0..<60 {
      let id = "f\(Int.random(in: 1...8, using: &random))"
      if shown.contains(where: { $0.id == id }), Bool.random(using: &random) {
        try await larder.delete(Film.self, key: id)
      } else {
        try await larder.save(Film(id: id, title: "\(random.next())", year: 2000 + round))
      }
      let update = try #require(try await updates.next())
      shown = try update.diff.applied(to: shown) { update.items[$0] }
      #expect(shown == update.items)
      let present = try await larder.read { db in
        try Film.filter(\.year > 1990).order(\.title).fetchAll(db)
      }
      #expect(shown == present)
    }
  }
}
