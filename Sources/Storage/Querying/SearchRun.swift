import Filtering
import GRDB
import Model

/// A search for the entities of one type that a viewer sees and whose text contains every word, in a field as the
/// viewer sees it, whichever scope's row that field comes from.
///
/// **Rank.** FTS5's own rank weighs a word by the number of rows that contain it, in all scopes, which would
/// reveal words in other users' rows. So the index ranks by a function of ours, ``SearchScore``, which depends
/// on the visible text alone. Price: a rare word weighs no more than a frequent one.
///
/// **Scopes.** An entity without a row in a narrower scope is ranked by its row in the widest one. Of the others, one
/// that matches has a word in a narrower row, or every word in the widest. So the index finds these too, and their
/// visible texts are then matched (``SearchMatcher``). Price: a look-up for each row that was found.
///
/// **Bound.** Of each scope a number of rows is ranked at most (``SearchCandidates``); the ranking is incomplete if
/// there are more.
struct SearchRun {
  struct Found {
    let key: EntityKey
    let score: Double
  }

  struct Ranking {
    /// Best first.
    let found: [Found]
    /// Whether all entities that match were ranked.
    let isComplete: Bool
  }

  private let database: Database
  private let index: SearchIndex
  /// Those that are searched, narrowest first.
  private let scopes: [Int64]
  private let texts: SearchTexts
  private let matcher: SearchMatcher
  /// The terms in FTS5's query syntax, quoted, so that none of their text is an operator.
  private let terms: [String]

  /// - Parameter visible: the viewer's scopes that hold rows of the type, one at least.
  init(_ text: SearchText, _ index: SearchIndex, visible: ViewerScopes, _ db: Database) throws {
    database = db
    self.index = index
    scopes = visible.searched(index.fields, in: index.table)
    texts = SearchTexts(database: db, index: index, scopes: visible)
    matcher = try SearchMatcher(text, db)
    terms = text.terms.map { Quotation.quoted($0.text) + ($0.isPrefix ? "*" : "") }
  }

  /// Returns the best matches, best first.
  func best(_ count: Int) throws -> Ranking {
    let narrower = scopes.dropLast()
    let places = try RowPlaces(index.table, narrower: narrower, database)
    let widest = try SearchCandidates(
      of: terms.joined(separator: " "), in: index, scope: scopes.last ?? ScopeTable.noneID,
      isScored: true, database)
    var isComplete = widest.isComplete
    var keys: Set<ExactText> = []
    func add(_ row: Int64) throws {
      if let place = try places.place(of: row) { keys.insert(ExactText(place.key)) }
    }
    // Of each scope by itself: a device's few rows are found next to the many of a role.
    for scope in narrower {
      let rows = try SearchCandidates(
        of: terms.joined(separator: " OR "), in: index, scope: scope, isScored: false, database)
      isComplete = isComplete && rows.isComplete
      for row in rows.rows { try add(row.number) }
      for row in rows.titles { try add(row) }
    }
    for row in widest.titles { try add(row) }
    var alone = widest.rows
    if !narrower.isEmpty {
      alone = try alone.filter { row in
        guard let place = try places.place(of: row.number) else { return false }
        if place.isCovered { keys.insert(ExactText(place.key)) }
        return !place.isCovered
      }
    }
    let found = try matches(of: keys) + best(count, of: alone, places)
    return Ranking(
      found: Array(found.sorted(by: Self.isBefore).prefix(count)), isComplete: isComplete)
  }

  /// Returns the entities of keys that match by their visible texts.
  private func matches(of keys: Set<ExactText>) throws -> [Found] {
    var found: [Found] = []
    try texts.forEach(of: Array(keys)) { key, texts in
      guard let score = try matcher.score(of: texts) else { return }
      found.append(Found(key: EntityKey(type: index.table.type, key: key), score: score))
    }
    return found
  }

  /// Returns the best of scored rows, in any order. Keys are read for these alone, and for all with the score of the
  /// last.
  private func best(
    _ count: Int, of rows: [SearchCandidates.Row], _ places: RowPlaces
  ) throws -> [Found] {
    let ranked = rows.sorted { $0.score > $1.score }
    guard let least = ranked.prefix(count).last?.score else { return [] }
    return try ranked.prefix { $0.score >= least }.compactMap { row in
      try places.place(of: row.number).map {
        Found(key: EntityKey(type: index.table.type, key: $0.key), score: row.score)
      }
    }
  }

  /// Sorts by score, best first; equal scores by type and key in SQL's order.
  static func isBefore(_ left: Found, _ right: Found) -> Bool {
    if left.score != right.score { return left.score > right.score }
    if !left.key.type.equalsExactly(right.key.type) {
      return left.key.type.precedesExactly(right.key.type)
    }
    return left.key.key.precedesExactly(right.key.key)
  }

  /// Returns an excerpt of the visible text around a match. FTS5 would make it from the index, but only by reading all
  /// rows with a word that begins with a prefix, for each excerpt.
  func snippet(of found: Found) throws -> String {
    var snippet = ""
    try texts.forEach(of: [ExactText(found.key.key)]) { _, texts in
      snippet = try matcher.snippet(of: texts)
    }
    return snippet
  }
}
