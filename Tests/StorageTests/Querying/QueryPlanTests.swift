import Filtering
import GRDB
import LosslessJSON
import Model
import Testing

@testable import Storage

/// The indexes that each form of filter uses.
struct QueryPlanTests {
  private static let films = EntityType(
    name: "Film", keyFields: ["id"], columns: RelatedWorld.films.columns,
    indexes: ["director", "subject", "year"],
    textIndexes: [
      .init(column: "title", form: .withoutMarks), .init(column: "title", form: .withoutCase),
      .init(column: "title", form: .lower),
    ])
  private static let types = [films, RelatedWorld.people, RelatedWorld.studios]

  /// Returns the plan of the page of a filter, a line for each step.
  private static func plan(_ text: String, order: String? = nil) async throws -> String {
    let fixture = try StoreFixture(types: types)
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(
      ResponseBuilder(call: 1).film("f", ["title": "T"])
        .entity(.person("p"), ["id": "p"])
        .entity(EntityKey(type: "Studio", key: "s"), ["id": "s"]).build())
    var query = EntityQuery(
      type: films,
      filter: try Filter(text, arguments: .none, type: films, graph: RelatedWorld.graph))
    if let order {
      query.order = try EntityOrder(order, type: films, graph: RelatedWorld.graph)
    }
    let asked = query
    let (catalogue, touches) = (store.catalogue, store.touches)
    return try await store.queries.read(QueryLane(.collection, of: .anonymous), within: nil) {
      database in
      guard let table = catalogue["Film"] else { return "" }
      let run = try EntityQueryRun(
        asked, table, scopes: [ScopeTable.publicID], catalogue, touches, database)
      let sql = try run.placesSQL()
      let statement = try PreparedStatement(
        database, once: "EXPLAIN QUERY PLAN \(sql.text)")
      sql.bind(to: statement)
      defer { statement.reset() }
      var steps: [String] = []
      while try statement.step() { steps.append(statement.string(3)) }
      return steps.joined(separator: "\n")
    }
  }

  @Test(
    "A form that an index can help with uses it",
    arguments: [
      ("title BEGINSWITH[cd] 'al'", "SEARCH seen USING INDEX text_index_"),
      ("title BEGINSWITH[c] 'al'", "SEARCH seen USING INDEX text_index_"),
      ("lower(title) = 'alien'", "SEARCH seen USING INDEX text_index_"),
      ("year IS NULL", "SEARCH seen USING INDEX index_"),
      ("director.name = 'Varda'", "SEARCH related0 USING INDEX index_"),
      ("director.name BEGINSWITH[cd] 'v'", "SEARCH related0 USING INDEX text_index_"),
      ("director.studio.name = 'Cine-Tamaris'", "SEARCH related1 USING INDEX index_"),
    ])
  func usesIndexes(text: String, step: String) async throws {
    let plan = try await Self.plan(text)
    #expect(plan.contains(step), "\(text)\n\(plan)")
    #expect(!plan.contains("AUTOMATIC"), "\(text)\n\(plan)")
  }

  @Test("A selective key path begins at the related type and finds the films by their reference")
  func keyPathBeginsAtTheIndex() async throws {
    let steps = try await Self.plan("director.name = 'Varda'").split(separator: "\n")
    #expect(steps.first?.contains("related0") == true, "\(steps)")
    #expect(
      steps.dropFirst().first?.contains("SEARCH seen USING INDEX index_") == true, "\(steps)")
  }

  @Test("A selective path through a union begins at the indexes of all its types")
  func unionPathBeginsAtTheIndexes() async throws {
    for text in ["subject.name = 'Varda'", "year > 1900 AND subject.name IN ('a', 'b')"] {
      let plan = try await Self.plan(text)
      let steps = plan.split(separator: "\n")
      let isSearched = { (row: String) in
        steps.contains {
          $0.contains("SEARCH \(row) USING INDEX index_") && $0.contains("(scope=? AND name=?)")
        }
      }
      #expect(isSearched("related0") && isSearched("related1"), "\(text)\n\(plan)")
      #expect(plan.contains("SEARCH seen USING INDEX index_"), "\(text)\n\(plan)")
      #expect(!plan.contains("AUTOMATIC"), "\(text)\n\(plan)")
    }
  }

  @Test("A path through a union that one type alone can meet begins at its index")
  func pathOfOneTypeBeginsAtTheIndex() async throws {
    let plan = try await Self.plan("subject.born = 1928")
    let steps = plan.split(separator: "\n")
    #expect(steps.first?.contains("SEARCH related0 USING INDEX index_") == true, "\(plan)")
    #expect(
      steps.dropFirst().first?.contains("SEARCH seen USING INDEX index_") == true, "\(plan)")
  }

  @Test(
    "Members and related entities are looked up by key, never by a scan",
    arguments: [
      "ANY cast.name = 'Varda'", "NONE cast.name = 'Varda'", "cast.count > 3",
      "ANY director.films.title = 'x'", "director.mentor.born > 3 OR year = 1",
      "NOT director.name = 'x'", "ANY about.name = 'x'", "NONE about.name = 'x'",
      "about.count > 3", "NOT subject.name = 'x'", "subject.name = 'x' OR year = 1",
      "ANY subject.films.title = 'x'",
    ])
  func looksUpByKey(_ text: String) async throws {
    let plan = try await Self.plan(text)
    for step in plan.split(separator: "\n")
    where step.contains("level1_") || step.contains("related") {
      #expect(
        !step.contains("SCAN") || step.contains("_member") || step.contains("linked"),
        "\(text)\n\(plan)")
    }
    #expect(!plan.contains("AUTOMATIC"), "\(text)\n\(plan)")
  }

  @Test("An index over folded texts is dropped when settings no longer ask for it")
  func dropsIndexes() async throws {
    let folder = TemporaryFolder()
    func names() async throws -> [String] {
      try await DatabaseQueue(path: folder.databasePath).read {
        try String.fetchAll(
          $0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'text_index_%' ORDER BY name")
      }
    }
    var store = try StoreFixture.open(folder, types: Self.types)
    store.close()
    #expect(try await names().count == 4)
    store = try StoreFixture.open(
      folder, types: [RelatedWorld.films, RelatedWorld.people, RelatedWorld.studios], segment: 2)
    _ = try await store.apply(ResponseBuilder(call: 1).film("f", ["title": "T"]).build())
    store.close()
    #expect(try await names().count == 1)
  }
}
