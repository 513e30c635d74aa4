import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Pages of the store against plain SQLite over what the viewer sees.
struct QueryPropertyTests {
  private static let type = StoreFixture.types[0]

  @Test(arguments: [false, true], [UInt64(1), 2, 3])
  func pagesSayWhatPlainSQLSays(isLayered: Bool, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let rows = try await QueryRows(count: 60, isLayered: isLayered, &random)
    var generator = FilterGenerator(random: random)
    for round in 0..<120 {
      let text = generator.filter()
      let order = generator.order()
      let note: Comment = "seed \(seed), round \(round): \(text) by \(order)"
      let expected = try await rows.plainKeys(where: text, orderBy: Self.sql(order))
      var query = EntityQuery(
        type: Self.type, filter: try Filter(text, arguments: .none, type: Self.type),
        order: try EntityOrder(order, type: Self.type), limit: 7, wantsTotal: true)
      var keys: [String] = []
      repeat {
        let page = try await rows.fixture.store.page(query, viewer: QueryRows.viewer)
        #expect(page.total == expected.count, note)
        keys += page.items.map(\.key.key)
        query.after = page.next
      } while query.after != nil
      #expect(keys == expected, note)
      guard keys == expected else { return }
    }
  }

  /// `-year,title` in SQL, with the key at its end.
  private static func sql(_ order: String) -> String {
    (order.split(separator: ",").map { $0.hasPrefix("-") ? "\($0.dropFirst()) DESC" : "\($0)" }
      + ["key"]).joined(separator: ", ")
  }
}
