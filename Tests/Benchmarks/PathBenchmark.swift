import Filtering
import GRDB
import LosslessJSON
import Model
import Storage

/// A page of the films whose maker has a name: 50 of 100,000 films, by 5 of 10,000 makers, with indexes on the
/// name and on the reference; compared with the same join by a prepared statement on another connection, awaited
/// through the same library, with the same rows and columns.
enum PathBenchmark {
  private static let films = 100_000
  private static let makers = 10_000
  private static let names = 2_000
  private static let pages = 100
  private static let bulkMax = 10_000

  private static let film = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "title", kind: .text),
      .init(name: "maker", kind: .reference),
    ], indexes: ["maker"])
  private static let maker = EntityType(
    name: "Maker", keyFields: ["id"],
    columns: [.init(name: "id", kind: .text), .init(name: "lastName", kind: .text)],
    indexes: ["lastName"])
  private static let graph = EntityGraph(
    types: [film, maker], relationships: ["Film": ["maker": .toOne("Maker")]])

  static func run() async throws {
    var filled = try FilledStore(count: films, types: [film, maker])
    defer { filled.end() }
    try await filled.apply { call in
      NormalisedResponse(
        call: call,
        entities: (0..<makers).map { number in
          (
            EntityKey(type: "Maker", key: "\(number)"),
            ["id": .string("\(number)"), "lastName": .string("Name\(number % names)")]
          )
        })
    }
    for first in stride(from: 0, to: films, by: bulkMax) {
      try await filled.apply { call in
        NormalisedResponse(
          call: call,
          entities: (first..<first + bulkMax).map { number in
            (
              EntityKey(type: "Film", key: "\(number)"),
              [
                "id": .string("\(number)"), "title": .string("Film \(number)"),
                "maker": .storedReference(
                  to: EntityKey(type: "Maker", key: "\(number % makers)")),
              ]
            )
          })
      }
    }
    let store = filled.store
    let plain = try PlainJoin(path: filled.databasePath)
    let (page, rows) = (try await page(store, 7), try await plain.rows("Name7"))
    guard rows.count == 50, page.map(\.key.key) == rows.map(\.key),
      page.map(\.record.layers) == rows.map({ [$0.fields] }),
      page.map(\.record.received?.milliseconds) == rows.map(\.received)
    else { throw BenchmarkFault(text: "the pages differ") }
    let times = try await Measuring([
      { for number in 0..<pages { _ = try await Self.page(store, number) } },
      { for number in 0..<pages { _ = try await plain.rows("Name\(number)") } },
    ])
    ResultRow(
      name: "paths: \(pages) pages of 50 among 100,000 films, by their makers' name",
      measured: times.median(0).shown,
      held: "prepared statement: \(times.median(1).shown)",
      result: times.ratio(0, to: 1), goal: "≤ 2"
    ).show()
  }

  private static func page(_ store: Store, _ number: Int) async throws -> [EntityPage.Item] {
    let filter = try Filter(
      "maker.lastName = ?", arguments: FilterArguments(positional: ["Name\(number)"]),
      type: film, graph: graph)
    return try await store.page(
      EntityQuery(type: film, filter: filter, limit: 50), viewer: .anonymous
    ).items
  }
}

/// The same films by plain SQL.
private final class PlainJoin: Sendable {
  struct Film: Sendable {
    let key: String
    let fields: [UInt8]
    let received: Int64?
  }

  private let database: DatabaseQueue

  init(path: String) throws {
    var settings = Configuration()
    settings.readonly = true
    database = try DatabaseQueue(path: path, configuration: settings)
  }

  func rows(_ name: String) async throws -> [Film] {
    try await database.read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT film.key, film.fields, film.received \
          FROM "entity_Maker" AS maker CROSS JOIN "entity_Film" AS film \
          ON film.scope = 0 AND film."maker" = maker.key AND film.fields IS NOT NULL \
          WHERE maker.scope = 0 AND maker.fields IS NOT NULL AND maker."lastName" = ? \
          ORDER BY film.key LIMIT 51
          """)
      let rows = try Row.fetchCursor(statement, arguments: [name])
      var films: [Film] = []
      while let row = try rows.next() {
        let fields: String = row[1]
        films.append(Film(key: row[0], fields: Array(fields.utf8), received: row[2]))
      }
      return films
    }
  }
}
