import FoundationEssentials
import GRDB
import Model
import Storage

/// The commit of a response with 2,000 new entities, compared with SQLite's own time for the same rows by a
/// prepared statement in one transaction on the same schema.
enum CommitBenchmark {
  static func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-bench-\(UInt32.random(in: 0...(.max)))"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: [FilmPages.type])
    let plain = try PlainTable(path: "\(folder)/plain.sqlite")
    var call: Int64 = 0
    let count = 2_000
    let answers = (0...Measuring.rounds).map { round in
      FilmPages.answer(count: count, call: Int64(round + 1), from: round * count)
    }
    let rows = answers.map(PlainTable.rows)
    let times = try await Measuring([
      {
        call += 1
        _ = try await store.apply(answers[Int(call - 1)])
      },
      { try plain.insert(rows[Int(call - 1)]) },
    ])
    ResultRow(
      name: "commit: \(count) new entities, \(answers[0].bytes.count) bytes",
      measured: times.median(0).shown, held: "SQLite, same rows: \(times.median(1).shown)",
      result: times.ratio(0, to: 1), goal: "≤ 3"
    ).show()
    let again = try await Measuring([
      { _ = try await store.apply(answers[answers.count - 1]) }
    ])
    ResultRow(name: "commit: the same answer again, nothing new", measured: again.median(0).shown)
      .show()
    store.close()
  }
}

/// The rows inserted with plain SQLite.
final class PlainTable {
  private let database: DatabaseQueue

  init(path: String) throws {
    database = try DatabaseQueue(path: path)
    try database.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
      try database.execute(
        sql: """
          CREATE TABLE film(
            scope INTEGER NOT NULL, key TEXT NOT NULL, fields TEXT NOT NULL, stamps TEXT NOT NULL,
            revision INTEGER NOT NULL, PRIMARY KEY (scope, key)) WITHOUT ROWID
          """)
    }
  }

  /// The rows with their texts prepared: only SQLite's time should be measured.
  static func rows(_ answer: NormalisedResponse) -> [Row] {
    answer.entities.map { entity in
      let members = entity.fields.map { field in
        "\"\(field.name)\":\(String(decoding: answer.bytes[field.range], as: UTF8.self))"
      }
      return Row(
        key: entity.key.key, fields: "{\(members.joined(separator: ","))}",
        revision: answer.call.value)
    }
  }

  func insert(_ rows: [Row]) throws {
    try database.write { database in
      let statement = try database.cachedStatement(
        sql: "INSERT OR REPLACE INTO film VALUES (1, ?, ?, '[1,1]', ?)")
      for row in rows { try statement.execute(arguments: [row.key, row.fields, row.revision]) }
    }
  }

  struct Row {
    let key: String
    let fields: String
    let revision: Int64
  }
}
