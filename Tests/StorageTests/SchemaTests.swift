import Foundation
import GRDB
import LosslessJSON
import Model
import Storage
import Testing

struct SchemaTests {
  private static func read<Value>(
    _ folder: TemporaryFolder, _ body: (Database) throws -> Value
  ) throws -> Value {
    var settings = Configuration()
    settings.readonly = true
    return try DatabaseQueue(path: folder.databasePath, configuration: settings).read(body)
  }

  private static func plan(_ sql: String, _ folder: TemporaryFolder) throws -> String {
    try read(folder) { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] as String }
        .joined(separator: "; ")
    }
  }

  @Test("Columns follow the declared types of their fields")
  func columnsFollowTheDeclaredTypes() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).entity(
        .film("9"),
        [
          "id": 9, "title": "A", "year": 9_007_199_254_740_993, "rating": 7, "seen": true,
          "director": .reference(.person("7")),
        ]
      ).build())
    let row = try Self.read(fixture.folder) { db in
      try Row.fetchOne(
        db,
        sql: """
          SELECT typeof(id), id, year, typeof(rating), seen, director FROM entity_Film
          """)
    }
    let values = try Array(#require(row).databaseValues)
    #expect(
      values == [
        "text".databaseValue, "9".databaseValue, 9_007_199_254_740_993.databaseValue,
        "real".databaseValue, 1.databaseValue, "7".databaseValue,
      ])
  }

  @Test("Queries on indexed columns use the index")
  func indexedColumnsUseTheirIndex() async throws {
    let fixture = try StoreFixture()
    #expect(
      try Self.plan("SELECT key FROM entity_Film WHERE scope = 0 AND year = 1990", fixture.folder)
        .contains("SEARCH entity_Film USING INDEX"))
    #expect(
      try Self.plan("SELECT key FROM entity_Film WHERE title = 'x'", fixture.folder)
        .contains("SCAN entity_Film"))
  }

  /// The statements of every write and read, on a table with realistic statistics.
  @Test("Statements by key never scan a table")
  func keyedStatementsNeverScan() async throws {
    let fixture = try StoreFixture()
    let statements = [
      "SELECT fields FROM entity_Film WHERE scope = 0 AND key IN (SELECT value FROM json_each('[]'))",
      """
      SELECT stored.fields FROM json_each('[]') AS wanted CROSS JOIN entity_Film AS stored \
      ON stored.scope = 0 AND stored.key = wanted.value
      """,
      "SELECT root.id FROM result AS root WHERE scope = 0 AND operation = '' AND variables = ''",
      "SELECT max(revision) FROM change WHERE scope = 0",
      "SELECT key FROM change WHERE scope = 0 AND revision > 1 ORDER BY revision, type, key",
    ]
    for sql in statements {
      let plan = try Self.plan(sql, fixture.folder)
      #expect(plan.contains("SEARCH"), "\(plan)")
      #expect(!plan.contains("SCAN entity_Film") && !plan.contains("SCAN stored"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }
  }

  @Test("A table with rows is widened by new fields")
  func widensATableWithRows() async throws {
    let folder = TemporaryFolder()
    let narrow = EntityType(
      name: "Film", keyFields: ["id"], columns: [.init(name: "id", kind: .text)])
    let first = try StoreFixture(folder, types: [narrow])
    _ = try await first.store.apply(
      ResponseBuilder(call: 1).film("1", ["year": 1990, "title": "A"]).build())
    first.store.close()
    let second = try StoreFixture(folder, segment: 2)
    defer { second.store.close() }
    let found = try Self.read(folder) { db in
      try String.fetchAll(db, sql: "SELECT key FROM entity_Film WHERE year = 1990 AND title = 'A'")
    }
    #expect(found == ["1"])
    #expect(
      try Self.plan("SELECT key FROM entity_Film WHERE scope = 0 AND year = 1990", folder).contains(
        "USING INDEX")
    )
  }

  @Test("Indexes and column kinds follow the settings")
  func indexesAndColumnKindsFollowTheSettings() async throws {
    let folder = TemporaryFolder()
    func type(_ kind: EntityType.Column.Kind, indexed: Bool) -> EntityType {
      EntityType(
        name: "Film", keyFields: ["id"], columns: [.init(name: "year", kind: kind)],
        indexes: indexed ? ["year"] : [])
    }
    func state() throws -> (indexed: Bool, type: String) {
      (
        try Self.plan("SELECT key FROM entity_Film WHERE scope = 0 AND year = 1990", folder)
          .contains(
            "INDEX index"),
        try Self.read(folder) { db in
          try String.fetchOne(db, sql: "SELECT typeof(year) FROM entity_Film") ?? ""
        }
      )
    }
    let first = try StoreFixture(folder, types: [type(.text, indexed: true)])
    _ = try await first.store.apply(ResponseBuilder(call: 1).film("1", ["year": 1990]).build())
    first.store.close()
    #expect(try state() == (true, "text"))
    try StoreFixture(folder, types: [type(.integer, indexed: true)], segment: 2).store.close()
    #expect(try state() == (true, "integer"))
    try StoreFixture(folder, types: [type(.integer, indexed: false)], segment: 3).store.close()
    #expect(try state() == (false, "integer"))
    try StoreFixture(folder, types: [type(.integer, indexed: true)], segment: 4).store.close()
    #expect(try state() == (true, "integer"))
  }

  @Test("Names that collide in SQL get distinct table and column names")
  func namesThatCollideInSQLAreDistinguished() async throws {
    let types = [
      EntityType(
        name: "Film", keyFields: ["id"],
        columns: ["id", "Title", "title", "key", "revision", "TITLE"].map {
          .init(name: $0, kind: .text)
        }, indexes: ["title", "Title"]),
      EntityType(name: "film", keyFields: ["id"], columns: [.init(name: "id", kind: .text)]),
      EntityType(name: "type", keyFields: ["id"], columns: [.init(name: "id", kind: .text)]),
    ]
    let folder = TemporaryFolder()
    let fixture = try StoreFixture(folder, types: types)
    let names = ["Film", "film", "type"].compactMap(fixture.store.tableName(of:))
    #expect(Set(names.map { $0.lowercased() }).count == 3)
    #expect(fixture.store.tableName(of: "Film") == "entity_Film")
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1)
        .film("1", ["Title": "A", "title": "B", "TITLE": "C", "key": "K", "revision": "R"])
        .entity(EntityKey(type: "film", key: "1"), ["id": "other"])
        .entity(EntityKey(type: "type", key: "1"), ["id": "third"]).build())
    #expect(try await fixture.title(of: "1") == "B")
    #expect(
      try await fixture.fields(of: EntityKey(type: "film", key: "1"))?.text == #"{"id":"other"}"#)
    fixture.store.close()
    // The names stay in later boots, whatever the order of the types.
    let again = try StoreFixture(folder, types: types.reversed(), segment: 2)
    defer { again.store.close() }
    #expect(["Film", "film", "type"].compactMap(again.store.tableName(of:)) == names)
    #expect(try await again.title(of: "1") == "B")
  }

  @Test("A database with a newer schema is refused")
  func refusesANewerDatabase() async throws {
    let folder = TemporaryFolder()
    try StoreFixture(folder).store.close()
    try await DatabaseQueue(path: folder.databasePath).write { db in
      try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999 from the future')")
    }
    #expect(throws: StorageError.newerSchema(folder: folder.path)) {
      _ = try StoreFixture(folder)
    }
  }

  @Test("A file that is not a database is refused")
  func refusesAFileThatIsNotADatabase() throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try Data(repeating: 0x41, count: 4096).write(to: URL(fileURLWithPath: folder.databasePath))
    let error = #expect(throws: StorageError.self) { _ = try StoreFixture(folder) }
    guard case .corrupt = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}

struct SecretScopeTests {
  @Test("Migrating drops data with clear-text credentials in its scopes, and nothing else")
  func clearTextCredentialsAreDropped() async throws {
    let folder = TemporaryFolder()
    let fixture = try StoreFixture(folder)
    let secret = Scope(kind: .public, subject: "", partition: "x-api-key:s3cret\nx-tenant:zeta")
    let tenant = Scope(kind: .public, subject: "", partition: "x-tenant:zeta")
    let own = Scope.ownData(ofDevice: "d1")
    for (call, scope) in [secret, tenant, own].enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(call + 1), scope: scope)
          .entity(.film("1"), ["id": "1", "title": "A"]).build())
    }
    fixture.store.close()
    try await DatabaseQueue(path: folder.databasePath).write { db in
      try db.execute(
        sql: "DELETE FROM grdb_migrations WHERE identifier LIKE '%credentials in scopes'")
    }
    let again = try StoreFixture(folder, segment: 2)
    #expect(try await again.title(of: "1", viewer: Viewer(layers: [secret])) == nil)
    #expect(try await again.title(of: "1", viewer: Viewer(layers: [tenant])) == "A")
    #expect(try await again.title(of: "1", viewer: Viewer(layers: [own])) == "A")
    let divisions = try await DatabaseQueue(path: folder.databasePath).read {
      try String.fetchAll($0, sql: "SELECT division FROM scope")
    }
    #expect(!divisions.contains { $0.contains("s3cret") } && divisions.contains("x-tenant:zeta"))
    again.store.close()
  }
}
