import Filtering
import GRDB
import Model

/// A search over entities with rows in several scopes: every word must occur in a field as the viewer sees
/// it, whichever scope's row that field comes from.
///
/// A row's field is visible if no narrower row of the viewer is a tombstone or has the field itself. Each
/// word is looked up in each field; an entity matches if every word occurs. Price: words × fields look-ups,
/// and all matching keys in memory at once.
struct LayeredSearch {
  private struct Tally {
    var hits: Int64 = 0
    var characters: Int64 = 0
    var bestHits: Int64 = -1
    var bestRow: Int64 = 0
  }

  let database: Database
  let index: SearchIndex
  /// Narrowest first.
  let scopes: [Int64]
  /// The terms in FTS5's query syntax.
  let terms: [String]

  /// Returns all matches, best first.
  func found() throws -> [SearchRun.Found] {
    var tallies = try tallies(of: keys())
    for number in index.fields.indices { try addHits(inField: number, to: &tallies) }
    return tallies.map { key, tally in
      SearchRun.Found(
        row: tally.bestRow, key: EntityKey(type: index.table.type, key: key.text),
        score: SearchRun.score(hits: tally.hits, characters: tally.characters))
    }.sorted(by: SearchRun.isBefore)
  }

  // MARK: Words

  private func keys() throws -> Set<ExactText> {
    var common: Set<ExactText>?
    for term in terms {
      var keys: Set<ExactText> = []
      for (number, column) in index.columns.enumerated() {
        try forEachMatch(of: "\(column) : \(term)", inField: number) {
          keys.insert(ExactText($0.string(0)))
        }
      }
      common = common?.intersection(keys) ?? keys
      if common?.isEmpty == true { return [] }
    }
    return common ?? []
  }

  /// Calls `body` with key, row number and hits of each matching row whose field is visible.
  private func forEachMatch(
    of expression: String, inField number: Int, _ body: (PreparedStatement) -> Void
  ) throws {
    var sql = BoundSQL()
    sql.append("SELECT seen.key, seen.rowid, \(index.hits(inColumn: number)) FROM \(index.name) ")
    sql.append("CROSS JOIN \(EntityTable.quoted(index.table.name)) AS seen ")
    sql.append("ON seen.rowid = \(index.name).rowid WHERE \(index.name) MATCH ")
    sql.append(.text(expression))
    appendSeen(index.fields[number], to: &sql)
    try forEachRow(of: sql, body)
  }

  private func addHits(inField number: Int, to tallies: inout [ExactText: Tally]) throws {
    let expression = "\(index.columns[number]) : (\(terms.joined(separator: " OR ")))"
    try forEachMatch(of: expression, inField: number) { row in
      let key = ExactText(row.string(0))
      guard var tally = tallies[key] else { return }
      let hits = row.int64(2)
      tally.hits += hits
      if hits > tally.bestHits { (tally.bestHits, tally.bestRow) = (hits, row.int64(1)) }
      tallies[key] = tally
    }
  }

  // MARK: Lengths

  private func tallies(of keys: Set<ExactText>) throws -> [ExactText: Tally] {
    guard !keys.isEmpty else { return [:] }
    var tallies = Dictionary(uniqueKeysWithValues: keys.map { ($0, Tally()) })
    let wanted = FilterValue.text(
      String(decoding: try KeyList.json(keys.lazy.map(\.text)), as: UTF8.self))
    for field in index.fields {
      var sql = BoundSQL()
      sql.append("SELECT seen.key, length(json_extract(seen.fields, '$.\"\(field)\"')) ")
      sql.append("FROM json_each(")
      sql.append(wanted)
      sql.append(") AS wanted CROSS JOIN \(EntityTable.quoted(index.table.name)) AS seen ")
      sql.append("ON seen.key = wanted.value AND seen.scope IN (\(list(scopes))) WHERE 1")
      appendSeen(field, to: &sql)
      try forEachRow(of: sql) { tallies[ExactText($0.string(0))]?.characters += $0.int64(1) }
    }
    return tallies
  }

  // MARK: Layers

  private func appendSeen(_ field: String, to sql: inout BoundSQL) {
    sql.append(" AND (")
    for layer in scopes.indices {
      if layer > 0 { sql.append(" OR ") }
      sql.append("(seen.scope = \(scopes[layer])")
      if layer > 0 {
        sql.append(
          """
           AND NOT EXISTS (SELECT 1 FROM \(EntityTable.quoted(index.table.name)) AS above \
          WHERE above.scope IN (\(list(scopes[..<layer]))) AND above.key = seen.key \
          AND (above.fields IS NULL OR json_type(above.fields, '$."\(field)"') IS NOT NULL))
          """)
      }
      sql.append(")")
    }
    sql.append(")")
  }

  /// Returns scope numbers as SQL text; they are generated here and need no binding.
  private func list(_ scopes: some Sequence<Int64>) -> String {
    scopes.map { "\($0)" }.joined(separator: ", ")
  }

  private func forEachRow(of sql: BoundSQL, _ body: (PreparedStatement) -> Void) throws {
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    while try statement.step() { body(statement) }
  }
}
