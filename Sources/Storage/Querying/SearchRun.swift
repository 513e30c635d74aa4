import GRDB
import Model

/// Finds the entities of one type that a viewer sees and whose text has every word.
///
/// **Rank.** FTS5's own rank weighs a word by the number of rows that hold it, in all scopes: a user
/// could tell from it which words stand in other users' rows. So the score is made of the row
/// alone: its hits against its length, `hits / (hits + 1 + characters / 200)`. Price: a rare word
/// weighs no more than a frequent one.
///
/// **Layers.** A row of a wider scope counts only while no narrower row of the viewer's is a
/// tombstone or holds one of the fields itself; that row then speaks for the entity. Price: words
/// that stand partly in one scope and partly in another are not found together.
struct SearchRun {
  private static let snippetWords = 16

  private let database: Database
  private let index: SearchIndex
  private let scopes: [Int64]
  private let expression: String

  init(_ text: SearchText, _ index: SearchIndex, scopes: [Int64], _ db: Database) {
    database = db
    self.index = index
    self.scopes = scopes
    // Quoted, so that nothing in it is an operator.
    expression = text.terms.map { term in
      let inner = term.text.split(separator: "\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\"")
      return "\"\(inner)\"\(term.isPrefix ? "*" : "")"
    }.joined(separator: " ")
  }

  struct Found {
    let row: Int64
    let key: EntityKey
    let score: Double
  }

  /// The best, best first.
  func best(_ count: Int) throws -> [Found] {
    let hits = index.columns.enumerated().map { number, column in
      "length(highlight(\(index.name), \(number), char(1), '')) - length(\(index.name).\(column))"
    }.map { "coalesce(\($0), 0)" }.joined(separator: " + ")
    let length = index.columns.map { "coalesce(length(\(index.name).\($0)), 0)" }.joined(
      separator: " + ")
    var sql = BoundSQL()
    sql.append("SELECT row, key, hits / (hits + 1 + characters / 200.0) AS score FROM (")
    sql.append("SELECT seen.rowid AS row, seen.key AS key, \(hits) AS hits, ")
    sql.append("\(length) AS characters FROM \(index.name) CROSS JOIN ")
    sql.append(
      "\(EntityTable.quoted(index.table.name)) AS seen ON seen.rowid = \(index.name).rowid ")
    sql.append("WHERE \(index.name) MATCH ")
    sql.append(.text(expression))
    sql.append(" AND (")
    for layer in scopes.indices {
      if layer > 0 { sql.append(" OR ") }
      append(layer: layer, to: &sql)
    }
    sql.append(")) ORDER BY score DESC, key LIMIT ")
    sql.append(.integer(Int64(count)))
    let statement = try PreparedStatement(database, sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    var found: [Found] = []
    while try statement.step() {
      guard case .real(let score) = statement.value(2) else { continue }
      found.append(
        Found(
          row: statement.int64(0),
          key: EntityKey(type: index.table.type, key: statement.string(1)), score: score))
    }
    return found
  }

  private func append(layer: Int, to sql: inout BoundSQL) {
    sql.append("(seen.scope = ")
    sql.append(.integer(scopes[layer]))
    for narrower in scopes[..<layer] {
      let holds = index.fields.map { "json_type(above.fields, '$.\"\($0)\"') IS NOT NULL" }
      sql.append(" AND NOT EXISTS (SELECT 1 FROM \(EntityTable.quoted(index.table.name)) AS above ")
      sql.append("WHERE above.scope = ")
      sql.append(.integer(narrower))
      sql.append(" AND above.key = seen.key AND (above.fields IS NULL OR ")
      sql.append(holds.joined(separator: " OR "))
      sql.append("))")
    }
    sql.append(")")
  }

  func snippet(of found: Found) throws -> String {
    let statement = try PreparedStatement(
      database,
      """
      SELECT snippet(\(index.name), -1, '', '', '…', \(Self.snippetWords)) FROM \(index.name) \
      WHERE \(index.name) MATCH ?1 AND rowid = ?2
      """)
    statement.bind(expression, at: 1)
    statement.bind(found.row, at: 2)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : ""
  }
}
