import Filtering
import GRDB
import LosslessJSON
import Model
import TestSupport

@testable import Storage

/// Random films in three scopes, in a store and, merged by the test, in a plain SQLite table with the same
/// columns that queries are compared with, and one more for each that tells null from missing.
struct QueryRows {
  static let viewer = Viewer(layers: [.device("d"), .user("u"), .public])

  /// Films with dates, which upstream types never have; they are stored like those of a local type.
  static let film = EntityType(
    name: "Film", keyFields: ["id"],
    columns: StoreFixture.types[0].columns + [
      .init(name: "released", kind: .text, dates: .iso8601),
      .init(name: "watched", kind: .text, dates: .iso8601),
    ], indexes: ["year", "released"])

  let fixture: StoreFixture
  let plain: DatabaseQueue

  /// - Parameter isLayered: whether to add rows and tombstones in narrower scopes.
  init(count: Int, isLayered: Bool, _ random: inout SeededGenerator) async throws {
    fixture = try StoreFixture(types: [Self.film] + StoreFixture.types.dropFirst())
    var seen: [String: [String: JSONValue]] = [:]
    var call: Int64 = 0
    let scopes: [Scope] = isLayered ? Self.viewer.layers.reversed() : [.public]
    for (depth, scope) in scopes.enumerated() {
      for number in 0..<count where depth == 0 || Int.random(in: 0..<4, using: &random) == 0 {
        let id = "f\(number)"
        call += 1
        if Int.random(in: 0..<12, using: &random) == 0 {
          _ = try await fixture.store.apply(
            ResponseBuilder(call: call, scope: scope).deleting(.film(id)).build())
          seen[id] = nil
          continue
        }
        let fields = Self.fields(&random)
        _ = try await fixture.store.apply(
          ResponseBuilder(call: call, scope: scope)
            .film(id, .object(fields.map { JSONMember($0.key, $0.value) })).build())
        seen[id, default: [:]].merge(fields) { _, new in new }
        seen[id]?["id"] = .string(id)
      }
    }
    plain = try DatabaseQueue()
    let rows = seen
    try await plain.write { db in
      let states = Self.film.columns.map { "\($0.name)_state TEXT" }.joined(separator: ", ")
      try db.execute(
        sql: """
          CREATE TABLE film (key TEXT, id TEXT, title TEXT, year INTEGER, rating REAL,
          seen INTEGER, director TEXT, released TEXT, watched TEXT, \(states))
          """)
      let places = Array(repeating: "?", count: 1 + 2 * Self.film.columns.count)
        .joined(separator: ", ")
      for (id, fields) in rows {
        let values = Self.film.columns.map { fields[$0.name].flatMap(Self.sqlValue) }
        let states = Self.film.columns.map { column -> (any DatabaseValueConvertible)? in
          fields[column.name].map { $0 == .null ? "null" : "value" }
        }
        try db.execute(
          sql: "INSERT INTO film VALUES (\(places))",
          arguments: StatementArguments([id] + values + states))
      }
    }
  }

  private static func fields(_ random: inout SeededGenerator) -> [String: JSONValue] {
    var fields: [String: JSONValue] = [:]
    func some(_ name: String, _ value: JSONValue) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return
      case 1: fields[name] = .null
      default: fields[name] = value
      }
    }
    some(
      "title", .string(["Alien", "amelie", "Älä", "a%b", "", "10"].randomElement(using: &random)!))
    some("year", .number(JSONNumber(Int.random(in: 1990...1994, using: &random))))
    some("rating", .number(JSONNumber(Double(Int.random(in: 0...4, using: &random)) / 2)!))
    some("seen", .bool(Bool.random(using: &random)))
    for name in ["released", "watched"] {
      some(name, .string(DateSpellings.stored.randomElement(using: &random)!))
    }
    some("director", .reference(.person("p\(Int.random(in: 0...2, using: &random))")))
    return fields
  }

  private static func sqlValue(_ value: JSONValue) -> (any DatabaseValueConvertible)? {
    switch value {
    case .string(let text): text
    case .bool(let flag): flag ? 1 : 0
    case .number(let number):
      number.int64.map { $0 as any DatabaseValueConvertible } ?? number.double
    case .object: value["$ref"]?[1]?.string
    case .null, .array: nil
    }
  }

  /// Returns keys by plain SQL.
  func plainKeys(
    where condition: String, _ arguments: StatementArguments = [], orderBy: String
  ) async throws -> [String] {
    try await plain.read {
      try String.fetchAll(
        $0, sql: "SELECT key FROM film WHERE \(condition) ORDER BY \(orderBy)",
        arguments: arguments)
    }
  }

  /// Returns groups of neighbours with the same value of a column, by plain SQL.
  func plainSections(
    of column: String, where condition: String, _ arguments: StatementArguments, descending: Bool
  ) async throws -> [EntityPage.Section] {
    let rows = try await plain.read {
      try Row.fetchAll(
        $0,
        sql: """
          SELECT CAST(\(column) AS TEXT) AS name, count(*) AS count FROM film \
          WHERE \(condition) GROUP BY \(column) ORDER BY \(column) \(descending ? "DESC" : "")
          """, arguments: arguments
      ).map { (name: $0["name"] as String?, count: $0["count"] as Int) }
    }
    var offset = 0
    return rows.map { row in
      defer { offset += row.count }
      return EntityPage.Section(name: row.name, offset: offset, count: row.count)
    }
  }
}
