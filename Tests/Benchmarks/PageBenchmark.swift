import GRDB
import Gateway
import LosslessJSON
import Model

/// A filtered page, 50 of 100,000 by an indexed column, as the endpoint returns it; compared with the same
/// SQL by a prepared statement and the same JSON, on another connection to the same database.
enum PageBenchmark {
  private static let pages = 100
  private static let limit = 50

  static func run(_ library: FilmLibrary) async throws {
    let plain = try PlainPages(path: library.databasePath, renderer: library.renderer)
    guard try await page(library, 1970).body.count > 10_000,
      try await page(library, 1970).body.starts(with: try plain.page(1970, limit: limit).dropLast())
    else { throw BenchmarkFault(text: "the pages differ") }
    let times = try await Measuring([
      { for number in 0..<pages { _ = try await page(library, 1920 + number) } },
      { for number in 0..<pages { _ = try plain.page(1920 + number, limit: limit) } },
    ])
    ResultRow(
      name: "page: \(pages) filtered pages of \(limit) among 100,000, by an index",
      measured: times.median(0).shown,
      held: "prepared statement and JSON: \(times.median(1).shown)",
      result: times.ratio(0, to: 1), goal: "≤ 1.5"
    ).show()
  }

  private static func page(
    _ library: FilmLibrary, _ year: Int
  ) async throws -> EntityReader.Response {
    try await library.entities.collection(
      of: "Film",
      parameters: [
        .init("filter", "year >= ?"), .init("arg", "\(year)"), .init("order", "year"),
        .init("limit", "\(limit)"),
      ], caller: .anonymous)
  }
}

/// The pages read with plain SQL.
final class PlainPages {
  private let database: DatabaseQueue
  private let renderer: EntityRenderer

  init(path: String, renderer: EntityRenderer) throws {
    var settings = Configuration()
    settings.readonly = true
    database = try DatabaseQueue(path: path, configuration: settings)
    self.renderer = renderer
  }

  func page(_ year: Int, limit: Int) throws -> [UInt8] {
    try database.read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT key, fields FROM "entity_Film" WHERE scope = 0 AND fields IS NOT NULL \
          AND "year" >= ? ORDER BY "year", key LIMIT ?
          """)
      let rows = try Row.fetchCursor(statement, arguments: [year, limit])
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("items")
      writer.beginArray()
      while let row = try rows.next() {
        let key: String = row[0]
        let fields: String = row[1]
        let document = try renderer.document(
          EntityKey(type: "Film", key: key), EntityRecord(layers: [Array(fields.utf8)]))
        if let document { writer.raw(document.body) }
      }
      writer.endArray()
      writer.endObject()
      return writer.bytes
    }
  }
}
