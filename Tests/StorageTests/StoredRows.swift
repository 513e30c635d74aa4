import GRDB
import LosslessJSON
import Model

/// The rows of the tables, read without the store: a test of eviction must not rely on it.
struct StoredRows {
  struct Place: Hashable {
    let scope: Int64
    let key: EntityKey
  }

  struct Change: Equatable {
    let created: Int64
    let revision: Int64
    let kind: Int64
  }

  struct Result {
    let operation: String
    let variables: String
    let received: Timestamp
    let references: [EntityKey]
  }

  /// Nil for a tombstone.
  private(set) var entities: [Place: [EntityKey]?] = [:]
  private(set) var results: [Int64: Result] = [:]
  private(set) var changes: [Place: Change] = [:]

  init(_ fixture: StoreFixture) async throws {
    var settings = Configuration()
    settings.readonly = true
    let queue = try DatabaseQueue(path: fixture.folder.databasePath, configuration: settings)
    self = try await queue.read { try StoredRows($0) }
  }

  private init(_ db: Database) throws {
    let types = try Row.fetchAll(db, sql: "SELECT id, name, table_name FROM entity_type")
    for type in types {
      let table: String = type["table_name"]
      for row in try Row.fetchAll(db, sql: "SELECT scope, key, fields FROM \"\(table)\"") {
        let place = Place(
          scope: row["scope"], key: EntityKey(type: type["name"], key: row["key"]))
        entities[place] = .some(try (row["fields"] as String?).map(Self.references))
      }
    }
    for row in try Row.fetchAll(db, sql: "SELECT * FROM result") {
      results[row["id"]] = Result(
        operation: row["operation"], variables: row["variables"],
        received: Timestamp(milliseconds: row["received"]),
        references: try Self.references(row["fields"]))
    }
    let names = Dictionary(
      uniqueKeysWithValues: types.map { ($0["id"] as Int64, $0["name"] as String) })
    for row in try Row.fetchAll(db, sql: "SELECT * FROM change") {
      let place = Place(
        scope: row["scope"], key: EntityKey(type: names[row["type"]] ?? "", key: row["key"]))
      changes[place] = Change(
        created: row["created"], revision: row["revision"], kind: row["kind"])
    }
  }

  /// Returns every row that these results reach, in any scope.
  func reachable(from results: [Result]) -> Set<Place> {
    let rows = Dictionary(grouping: entities.keys, by: \.key)
    var reached: Set<Place> = []
    var waiting = results.flatMap(\.references)
    var seen: Set<EntityKey> = []
    while let key = waiting.popLast() {
      guard seen.insert(key).inserted else { continue }
      for place in rows[key] ?? [] {
        reached.insert(place)
        waiting += entities[place]?.flatMap { $0 } ?? []
      }
    }
    return reached
  }

  private static func references(_ text: String) throws -> [EntityKey] {
    func find(_ value: JSONValue) -> [EntityKey] {
      if let parts = value["$ref"]?.array, let type = parts[0].string, let key = parts[1].string {
        return [EntityKey(type: type, key: key)]
      }
      return value.array.map { $0.flatMap(find) }
        ?? (value.members ?? []).flatMap { find($0.value) }
    }
    return find(try JSONValue(parsing: text))
  }
}
