import Filtering
import GRDB
import LosslessJSON
import Model
import Testing

@testable import Storage

/// Searches for words that more texts contain than are ranked.
struct SearchBoundTests {
  private static let type = SearchWorld.type
  private static let filmsMax = SearchCandidates.rowsMax
  private let ada = Viewer(layers: [.user("ada"), .public])

  private func apply(
    _ films: [(id: String, fields: JSONValue)], call: Int64, scope: Scope = .public,
    to fixture: StoreFixture
  ) async throws {
    var response = ResponseBuilder(call: call, scope: scope)
    for film in films { response = response.film(film.id, film.fields) }
    _ = try await fixture.store.apply(response.build())
  }

  /// Stores more films than are ranked, in batches, with a word in each synopsis.
  private func fill(
    _ word: String, call first: Int64, scope: Scope = .public, _ fixture: StoreFixture
  ) async throws {
    let size = 500
    for batch in 0...(Self.filmsMax / size) {
      try await apply(
        (0..<size).map { number in
          (
            "\(word)\(batch * size + number)",
            ["title": "Film", "synopsis": .string("a \(word) night, number \(number)")]
          )
        }, call: first + Int64(batch), scope: scope, to: fixture)
    }
  }

  private func search(
    _ text: String, _ fixture: StoreFixture, viewer: Viewer = .anonymous, limit: Int = 10,
    offset: Int = 0
  ) async throws -> SearchPage {
    try await fixture.store.search(
      try SearchText(text), types: [Self.type], viewer: viewer, limit: limit, offset: offset)
  }

  @Test(
    "Above the bound the latest texts and older titles are ranked, and the page is approximate")
  func ranksTitlesAndTheLatest() async throws {
    let fixture = try StoreFixture(types: [Self.type])
    try await apply(
      [("old title", ["title": "Dark"]), ("old", ["title": "Old", "synopsis": "dark"])], call: 1,
      to: fixture)
    try await fill("dark", call: 2, fixture)
    try await apply([("late", ["title": "Late", "synopsis": "dark"])], call: 90, to: fixture)
    for text in ["dark", "da*", "d*"] {
      let page = try await search(text, fixture)
      #expect(page.isApproximate, "\(text)")
      // Without the bound "old" would be third.
      #expect(page.hits.prefix(2).map(\.key.key) == ["old title", "late"], "\(text)")
      #expect(!page.hits.contains { $0.key.key == "old" }, "\(text)")
    }
    // A title has one of the words only.
    let both = try await search("dark night", fixture)
    #expect(both.isApproximate)
    #expect(both.hits.allSatisfy { $0.snippet.contains("dark night") })
    let rare = try await search("old", fixture)
    #expect(!rare.isApproximate)
    #expect(rare.hits.map(\.key.key) == ["old"])
  }

  @Test("Pages above the bound hold each hit once, and end with the texts that were ranked")
  func pagesEndWithTheRanked() async throws {
    let fixture = try StoreFixture(types: [Self.type])
    try await apply([("title", ["title": "Dark"])], call: 1, to: fixture)
    try await fill("dark", call: 2, fixture)
    var keys: [String] = []
    while true {
      let page = try await search("dark", fixture, limit: 2_000, offset: keys.count)
      #expect(page.isApproximate)
      keys += page.hits.map(\.key.key)
      guard !page.hits.isEmpty else { break }
    }
    #expect(keys.count == Self.filmsMax + 1)
    #expect(Set(keys).count == keys.count)
    #expect(keys.first == "title")
  }

  @Test("Above the bound the caller's own rows are still found, wherever their words are")
  func ownRowsAreFound() async throws {
    let fixture = try StoreFixture(types: [Self.type])
    // The oldest rows, which a choice by recency alone would miss.
    try await apply(
      [
        ("mine", ["title": "Mine", "synopsis": "dark"]),
        ("split", ["synopsis": "night"]),
        ("hidden", ["synopsis": "bright"]),
      ], call: 1, scope: .user("ada"), to: fixture)
    try await apply(
      [
        ("split", ["title": "Dark", "synopsis": "day"]),
        ("hidden", ["title": "Hidden", "synopsis": "dark"]),
      ], call: 2, to: fixture)
    try await fill("dark", call: 3, fixture)
    let dark = try await search("dark", fixture, viewer: ada)
    #expect(dark.isApproximate)
    #expect(dark.hits.prefix(2).map(\.key.key) == ["mine", "split"])
    let all = try await search("dark", fixture, viewer: ada, limit: 10_000)
    #expect(!all.hits.contains { $0.key.key == "hidden" })
    #expect(Set(all.hits.map(\.key.key)).count == all.hits.count)
    let split = try await search("dark night", fixture, viewer: ada)
    #expect(split.hits.first?.key.key == "split")
    let anonymous = try await search("dark", fixture, limit: 10_000)
    #expect(!anonymous.hits.contains { $0.key.key == "mine" })
  }

  @Test("Other callers' rows neither make a search approximate nor take places in it")
  func othersRowsDoNotCount() async throws {
    let fixture = try StoreFixture(types: [Self.type])
    try await apply([("public", ["title": "A", "synopsis": "a dark day"])], call: 1, to: fixture)
    try await apply(
      [("mine", ["title": "B", "synopsis": "a dark evening"])], call: 2, scope: .user("ada"),
      to: fixture)
    try await fill("dark", call: 3, scope: .user("bob"), fixture)
    let anonymous = try await search("dark", fixture)
    #expect(!anonymous.isApproximate)
    #expect(anonymous.hits.map(\.key.key) == ["public"])
    let own = try await search("dark", fixture, viewer: ada)
    #expect(!own.isApproximate)
    #expect(own.hits.map(\.key.key) == ["public", "mine"])
  }

  @Test("The index is read from its last row, without sorting, and entities are looked up by key")
  func plansReadTheIndexBackwards() async throws {
    let fixture = try StoreFixture(types: [Self.type])
    try await apply([("1", ["title": "Dark"])], call: 1, to: fixture)
    let catalogue = fixture.store.catalogue
    let plans = try await fixture.store.queries.read(
      QueryLane(.search, of: .anonymous), within: nil
    ) { database -> [String] in
      guard let table = catalogue["Film"] else { return [] }
      let index = SearchIndex(table: table, fields: Self.type.search)
      return try [
        SearchCandidates.rowsSQL(index, isScored: true), SearchCandidates.titlesSQL(index) ?? "",
        SearchTexts(database: database, index: index, scopes: [0]).sql([ExactText("1")]).text,
        SearchTexts(database: database, index: index, scopes: [1, 0]).sql([ExactText("1")]).text,
      ].map { sql in
        let statement = try PreparedStatement(database, once: "EXPLAIN QUERY PLAN \(sql)")
        defer { statement.reset() }
        var steps: [String] = []
        while try statement.step() { steps.append(statement.string(3)) }
        return steps.joined(separator: "\n")
      }
    }
    #expect(plans.count == 4)
    for plan in plans.prefix(2) {
      #expect(plan.hasPrefix("SCAN search_"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }
    for plan in plans.suffix(2) {
      #expect(plan.hasPrefix("SCAN wanted"), "\(plan)")
      #expect(plan.contains("USING INDEX sqlite_autoindex"), "\(plan)")
      #expect(!plan.contains("SCAN seen"), "\(plan)")
    }
  }
}
