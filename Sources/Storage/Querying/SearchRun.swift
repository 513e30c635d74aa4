import Filtering
import GRDB
import Model

/// A search for the entities of one type that a viewer sees and whose text contains every word.
///
/// **Rank.** FTS5's rank weighs a word by the number of rows that contain it, in all scopes, which would
/// reveal words in other users' rows. So the score depends only on the visible text, its hits and its
/// length: `hits / (hits + 1 + characters / 200)`. Price: a rare word weighs no more than a frequent one.
///
/// If more than one of the viewer's scopes holds rows of the type, ``LayeredSearch`` does the search.
struct SearchRun {
  struct Found {
    /// A row of the index that contains some of the words.
    let row: Int64
    let key: EntityKey
    let score: Double
  }

  private static let snippetWords = 16

  private let database: Database
  private let index: SearchIndex
  private let scopes: [Int64]
  /// The terms in FTS5's query syntax, quoted, so that none of their text is an operator.
  private let terms: [String]

  /// - Parameter scopes: the scopes that hold rows of the type, narrowest first.
  init(_ text: SearchText, _ index: SearchIndex, scopes: [Int64], _ db: Database) {
    database = db
    self.index = index
    self.scopes = scopes
    terms = text.terms.map { Quotation.quoted($0.text) + ($0.isPrefix ? "*" : "") }
  }

  /// Returns the best matches, best first.
  func best(_ count: Int) throws -> [Found] {
    guard scopes.count == 1 else {
      let search = LayeredSearch(database: database, index: index, scopes: scopes, terms: terms)
      return Array(try search.found().prefix(count))
    }
    let hits = index.columns.indices.map { "(\(index.hits(inColumn: $0)))" }
      .joined(separator: " + ")
    let length = index.columns.map { "coalesce(length(\(index.name).\($0)), 0)" }
      .joined(separator: " + ")
    var sql = BoundSQL()
    sql.append("SELECT row, key, hits, characters FROM (")
    sql.append("SELECT seen.rowid AS row, seen.key AS key, \(hits) AS hits, ")
    sql.append("\(length) AS characters FROM \(index.name) CROSS JOIN ")
    sql.append(
      "\(EntityTable.quoted(index.table.name)) AS seen ON seen.rowid = \(index.name).rowid ")
    sql.append("WHERE \(index.name) MATCH ")
    sql.append(.text(terms.joined(separator: " ")))
    sql.append(" AND seen.scope = ")
    sql.append(.integer(scopes[0]))
    sql.append(") ORDER BY hits / (hits + 1 + characters / 200.0) DESC, key LIMIT ")
    sql.append(.integer(Int64(count)))
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    var found: [Found] = []
    while try statement.step() {
      found.append(
        Found(
          row: statement.int64(0),
          key: EntityKey(type: index.table.type, key: statement.string(1)),
          score: Self.score(hits: statement.int64(2), characters: statement.int64(3))))
    }
    return found
  }

  /// Sorts by score, best first; equal scores by type and key in SQL's order.
  static func isBefore(_ left: Found, _ right: Found) -> Bool {
    if left.score != right.score { return left.score > right.score }
    if !left.key.type.equalsExactly(right.key.type) {
      return left.key.type.precedesExactly(right.key.type)
    }
    return left.key.key.precedesExactly(right.key.key)
  }

  static func score(hits: Int64, characters: Int64) -> Double {
    Double(hits) / (Double(hits) + 1 + Double(characters) / 200)
  }

  func snippet(of found: Found) throws -> String {
    let statement = try PreparedStatement(
      database,
      """
      SELECT snippet(\(index.name), -1, '', '', '…', \(Self.snippetWords)) FROM \(index.name) \
      WHERE \(index.name) MATCH ?1 AND rowid = ?2
      """)
    statement.bind(terms.joined(separator: " OR "), at: 1)
    statement.bind(found.row, at: 2)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : ""
  }
}

extension SearchIndex {
  /// Returns the SQL for the number of hits in a column of a matching row.
  func hits(inColumn number: Int) -> String {
    "coalesce(length(highlight(\(name), \(number), char(1), '')) "
      + "- length(\(name).\(columns[number])), 0)"
  }
}
