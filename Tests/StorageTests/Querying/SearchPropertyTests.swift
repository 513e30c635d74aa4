import Filtering
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Searches compared with the full ranking of the texts that the viewer sees.
struct SearchPropertyTests {
  @Test(
    "Below the bound a search is the full ranking of what the caller sees, page by page",
    arguments: [1, 2, 3, 4], [UInt64(1), 2, 3])
  func searchesEqualTheFullRanking(layers: Int, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = try await SearchWorld(layers: layers, &random)
    var count = 0
    for round in 0..<150 {
      let text = SearchWorld.query(&random)
      let note: Comment = "seed \(seed), \(layers) scopes, round \(round): \(text)"
      let expected = try await world.ranking(text)
      count += expected.count
      var hits: [SearchHit] = []
      let size = Int.random(in: 1...20, using: &random)
      while true {
        let page = try await world.fixture.store.search(
          try SearchText(text), types: [SearchWorld.type], viewer: SearchWorld.viewer,
          limit: size, offset: hits.count)
        #expect(!page.isApproximate, note)
        hits += page.hits
        guard page.hits.count == size else { break }
      }
      #expect(hits.map(\.key.key) == expected.map(\.key), note)
      #expect(
        zip(hits, expected).allSatisfy { abs($0.score - $1.score) < 1e-9 }, note)
      #expect(hits.allSatisfy { !$0.snippet.isEmpty }, note)
      guard hits.map(\.key.key) == expected.map(\.key) else { return }
    }
    #expect(count > 300)
  }

  @Test("Ties are ordered by key, across the end of a page")
  func tiesAreOrderedByKey() async throws {
    let fixture = try StoreFixture(types: [SearchWorld.type])
    var response = ResponseBuilder(call: 1)
    for number in (10..<40).reversed() { response = response.film("\(number)", ["title": "Moon"]) }
    _ = try await fixture.store.apply(response.build())
    for size in [1, 7, 30] {
      var keys: [String] = []
      for offset in stride(from: 0, to: 30, by: size) {
        keys += try await fixture.store.search(
          try SearchText("moon"), types: [SearchWorld.type], viewer: .anonymous, limit: size,
          offset: offset
        ).hits.map(\.key.key)
      }
      #expect(keys == (10..<40).map(String.init), "pages of \(size)")
    }
  }
}
