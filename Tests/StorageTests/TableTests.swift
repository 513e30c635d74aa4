import LosslessJSON
import Model
import Storage
import Testing

struct TableTests {
  /// A store whose operations name `Film` with fewer fields than before, and no `Person`.
  static func reopened(_ folder: TemporaryFolder) async throws -> StoreFixture {
    let first = try StoreFixture(folder)
    _ = try await first.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "Alpha", "year": 2001])
        .entity(.person("p"), ["id": "p", "name": "Ada"]).build())
    _ = try await first.store.apply(ResponseBuilder(call: 2).film("2", ["title": "Beta"]).build())
    first.store.close()
    return try StoreFixture(
      folder,
      types: [
        EntityType(
          name: "Film", keyFields: ["id"],
          columns: [.init(name: "id", kind: .text), .init(name: "title", kind: .text)])
      ], segment: 2)
  }

  @Test("Tables are described with their counts and columns")
  func tablesAreDescribed() async throws {
    let fixture = try await Self.reopened(TemporaryFolder())
    defer { fixture.store.close() }
    let tables = try await fixture.store.tables()
    #expect(tables.map(\.type) == ["Film", "Person"])
    #expect(tables.map(\.isNamed) == [true, false])
    #expect(tables.map(\.entities) == [2, 1])
    let year = try #require(tables[0].columns.first { $0.field == "year" })
    #expect(!year.isNamed)
    #expect(year.kind == "integer")
  }

  @Test("A cleanup removes only tables and columns that no operation names")
  func cleanupRemovesUnnamed() async throws {
    let folder = TemporaryFolder()
    let fixture = try await Self.reopened(folder)
    let cleanup = try await fixture.store.cleanUpTables()
    #expect(cleanup.types == ["Person"])
    #expect(Set(cleanup.columns.map(\.field)) == ["year", "rating", "seen", "director"])
    #expect(try await fixture.store.cleanUpTables() == TableCleanup())
    #expect(try await fixture.title(of: "1") == "Alpha")
    // A cursor from before the first commit's changes cannot be continued.
    #expect(fixture.store.floor == Revision(1))
    #expect(fixture.store.tableName(of: "Person") == nil)
    #expect(try await fixture.store.statistics().tables.map(\.type) == ["Film"])
    let policy = EvictionPolicy(windows: [:], bytesMax: 0)
    while try await fixture.store.evict(policy, at: Timestamp(milliseconds: 9)).hasMore {}
    fixture.store.close()
    // The operations return, and with them the kept fields.
    let again = try StoreFixture(folder, segment: 3)
    defer { again.store.close() }
    #expect(try await again.store.tables().map(\.type) == ["Film", "Person"])
  }

  @Test("The table of a named type cannot be dropped")
  func namedTableStays() async throws {
    let fixture = try await Self.reopened(TemporaryFolder())
    defer { fixture.store.close() }
    await #expect(throws: TableFault.isNamed) { try await fixture.store.dropTable(of: "Film") }
    await #expect(throws: TableFault.unknown) { try await fixture.store.dropTable(of: "Boat") }
    try await fixture.store.dropTable(of: "Person")
    #expect(try await fixture.store.tables().map(\.type) == ["Film"])
  }
}
