import GRDB
import LosslessJSON
import Model
import Storage

/// An open store over a temporary folder, with the film library's types.
struct StoreFixture {
  static let types = [
    EntityType(
      name: "Film", keyFields: ["id"],
      columns: [
        .init(name: "id", kind: .text), .init(name: "title", kind: .text),
        .init(name: "year", kind: .integer), .init(name: "rating", kind: .real),
        .init(name: "seen", kind: .boolean), .init(name: "director", kind: .reference),
      ], indexes: ["year"]),
    EntityType(
      name: "Person", keyFields: ["id"],
      columns: [.init(name: "id", kind: .text), .init(name: "name", kind: .text)]),
  ]

  let folder: TemporaryFolder
  let store: Store

  init(
    _ folder: TemporaryFolder = TemporaryFolder(), types: [EntityType] = types, segment: UInt64 = 1
  ) throws {
    self.folder = folder
    store = try Self.open(folder, types: types, segment: segment)
  }

  static func open(
    _ folder: TemporaryFolder, types: [EntityType] = types, segment: UInt64 = 1
  ) throws -> Store {
    try Store.open(
      StoreConfiguration(
        folder: folder.path, segment: segment, opened: Timestamp(milliseconds: 0)),
      types: types)
  }

  /// An entity's fields as the viewer sees them, the first layer that has a field winning.
  func fields(
    of key: EntityKey, viewer: Viewer = .anonymous
  ) async throws -> JSONValue? {
    guard let record = try await store.entity(key, viewer: viewer), !record.isDeleted else {
      return nil
    }
    var united: JSONValue = [:]
    for layer in record.layers.reversed() {
      for member in try JSONValue(parsing: layer).members ?? [] {
        united[member.name] = member.value
      }
    }
    return united
  }

  /// The number of rows in one of the store's own tables.
  func count(_ table: String) async throws -> Int? {
    var settings = Configuration()
    settings.readonly = true
    return try await DatabaseQueue(path: folder.databasePath, configuration: settings).read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)")
    }
  }

  /// The number of blocks of full-text indexes that hold a part of a word.
  func blocks(holding text: String) async throws -> Int {
    var settings = Configuration()
    settings.readonly = true
    return try await DatabaseQueue(path: folder.databasePath, configuration: settings).read { db in
      let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'search_*_data'")
      return try tables.reduce(0) { sum, table in
        let count = try Int.fetchOne(
          db, sql: "SELECT count(*) FROM \(table) WHERE instr(block, CAST(? AS BLOB)) > 0",
          arguments: [text])
        return sum + (count ?? 0)
      }
    }
  }

  func title(of id: String, viewer: Viewer = .anonymous) async throws -> String? {
    try await fields(of: .film(id), viewer: viewer)?["title"]?.string
  }
}

extension EntityKey {
  static func film(_ id: String) -> EntityKey { EntityKey(type: "Film", key: id) }
  static func person(_ id: String) -> EntityKey { EntityKey(type: "Person", key: id) }
}
