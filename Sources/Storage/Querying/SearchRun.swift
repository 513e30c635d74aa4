import Filtering
import GRDB
import Model

/// A search for the entities of one type that a viewer sees and whose text contains every word.
///
/// **Rank.** FTS5's own rank weighs a word by the number of rows that contain it, in all scopes, which would
/// reveal words in other users' rows. So the index ranks by a function of ours, ``SearchScore``, which depends
/// on the visible text alone. Price: a rare word weighs no more than a frequent one.
///
/// **Bound.** At most ``SearchCandidates/rowsMax`` rows of a scope are ranked, and some with the words in their
/// first field; if there are more, the ranking is not complete.
///
/// If more than one of the viewer's scopes holds rows of the type, ``LayeredSearch`` does the search.
struct SearchRun {
  struct Found {
    /// A row of the index that contains some of the words.
    let row: Int64
    /// The index of the field to show; nil for the one that FTS5 takes.
    var field: Int?
    let key: EntityKey
    let score: Double
  }

  struct Ranking {
    /// Best first.
    let found: [Found]
    /// Whether all entities that match were ranked.
    let isComplete: Bool
  }

  private static let snippetWords = 16

  private let database: Database
  private let index: SearchIndex
  private let scopes: [Int64]
  private let text: SearchText
  /// The terms in FTS5's query syntax, quoted, so that none of their text is an operator.
  private let terms: [String]

  /// - Parameter scopes: the scopes that hold rows of the type, narrowest first.
  init(_ text: SearchText, _ index: SearchIndex, scopes: [Int64], _ db: Database) {
    database = db
    self.index = index
    self.scopes = scopes
    self.text = text
    terms = text.terms.map { Quotation.quoted($0.text) + ($0.isPrefix ? "*" : "") }
  }

  /// Returns the best matches, best first.
  func best(_ count: Int) throws -> Ranking {
    guard scopes.count == 1 else {
      return try LayeredSearch(
        database: database, index: index, scopes: scopes, text: text, terms: terms
      ).best(count)
    }
    let candidates = try SearchCandidates(
      of: terms.joined(separator: " "), in: index, scopes: scopes, database)
    let places = try RowPlaces(index.table, narrower: [], database)
    return Ranking(
      found: try Self.best(count, of: candidates.rows, places, index.table),
      isComplete: candidates.isComplete)
  }

  /// Returns the best of rows, best first. Keys are read for these alone, and for the rows with the score of the last.
  static func best(
    _ count: Int, of rows: [SearchCandidates.Row], _ places: RowPlaces, _ table: EntityTable
  ) throws -> [Found] {
    let ranked = rows.sorted { $0.score > $1.score }
    guard count > 0, let least = ranked.prefix(count).last?.score else { return [] }
    var found: [Found] = []
    for row in ranked.prefix(while: { $0.score >= least }) {
      guard let place = try places.place(of: row.number) else { continue }
      found.append(
        Found(
          row: row.number, key: EntityKey(type: table.type, key: place.key), score: row.score))
    }
    return Array(found.sorted(by: isBefore).prefix(count))
  }

  /// Sorts by score, best first; equal scores by type and key in SQL's order.
  static func isBefore(_ left: Found, _ right: Found) -> Bool {
    if left.score != right.score { return left.score > right.score }
    if !left.key.type.equalsExactly(right.key.type) {
      return left.key.type.precedesExactly(right.key.type)
    }
    return left.key.key.precedesExactly(right.key.key)
  }

  func snippet(of found: Found) throws -> String {
    let statement = try PreparedStatement(
      database,
      """
      SELECT snippet(\(index.name), ?3, '', '', '…', \(Self.snippetWords)) FROM \(index.name) \
      WHERE \(index.name) MATCH ?1 AND rowid = ?2
      """)
    let fields = found.field.map { $0..<($0 + 1) }
    statement.bind(index.expression(terms.joined(separator: " OR "), inFields: fields), at: 1)
    statement.bind(found.row, at: 2)
    statement.bind(Int64(found.field ?? -1), at: 3)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : ""
  }
}
