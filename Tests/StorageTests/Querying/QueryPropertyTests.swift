import Filtering
import GRDB
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Pages of the store compared with plain SQLite over the viewer's data.
struct QueryPropertyTests {
  private static let type = QueryRows.film

  @Test(
    "Pages equal those of plain SQL",
    arguments: [false, true], [UInt64(1), 2, 3])
  func pagesEqualPlainSQL(isLayered: Bool, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let rows = try await QueryRows(count: 60, isLayered: isLayered, &random)
    var generator = try FilterGenerator(random: random)
    for round in 0..<120 {
      let text = generator.filter()
      let order = generator.order()
      let note: Comment = "seed \(seed), round \(round): \(text) by \(order)"
      let expected = try await rows.plainKeys(
        where: generator.sql(text), orderBy: Self.sql(order))
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

  /// Parameters are equivalent to literals; totals, sections and offsets refer to the same list.
  @Test(
    "Parameters, sections and offsets give the same results as plain SQL",
    arguments: [FilterGenerator.Values.positional, .named], [UInt64(4), 5])
  func parametersEqualPlainSQL(
    values: FilterGenerator.Values, seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let rows = try await QueryRows(count: 60, isLayered: true, &random)
    var generator = try FilterGenerator(random: random, values: values)
    for round in 0..<80 {
      let text = generator.filter()
      let (arguments, bound) = generator.takeArguments()
      let isDescending = round % 2 == 0
      let column = round % 4 < 2 ? "year" : "released"
      let order = "\(isDescending ? "-" : "")\(column),title"
      let note: Comment = "seed \(seed), round \(round): \(text) \(arguments) by \(order)"
      let sql = generator.sql(text)
      let expected = try await rows.plainKeys(where: sql, bound, orderBy: Self.sql(order))
      let sections = try await rows.plainSections(
        of: column, where: sql, bound, descending: isDescending)
      for offset in [0, 3, 17, expected.count, expected.count + 5] {
        let page = try await rows.fixture.store.page(
          EntityQuery(
            type: Self.type, filter: try Filter(text, arguments: arguments, type: Self.type),
            order: try EntityOrder(order, type: Self.type), limit: 9, offset: offset,
            wantsTotal: true, section: column), viewer: QueryRows.viewer)
        let keys = page.items.map(\.key.key)
        #expect(keys == Array(expected.dropFirst(offset).prefix(9)), note)
        #expect(page.total == expected.count, note)
        #expect(page.sections == sections, note)
        guard keys == Array(expected.dropFirst(offset).prefix(9)) else { return }
      }
    }
  }

  /// Returns an order such as `-year,title` in SQL, followed by the key.
  private static func sql(_ order: String) -> String {
    (order.split(separator: ",").map { $0.hasPrefix("-") ? "\($0.dropFirst()) DESC" : "\($0)" }
      + ["key"]).joined(separator: ", ")
  }
}
