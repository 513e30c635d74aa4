import GRDB

/// The rows of some scopes that contain the words of a search, with their scores: all of them, or a choice where
/// there are more than ``rowsMax``.
///
/// The choice is the latest stored rows, and the latest ones of those that have the words in the first field. FTS5
/// finds both in the order of row numbers, so neither reads the texts of all rows that match. The scope is part of the
/// query: other callers' rows affect neither the choice nor whether there is one.
struct SearchCandidates {
  /// Maximum rows that are ranked against each other: some 10 ms of scoring.
  static let rowsMax = 5_000
  /// Maximum further rows, with the words in the first field, if there are more than ``rowsMax``.
  static let titlesMax = 1_000

  struct Row {
    let number: Int64
    let score: Double
  }

  /// Without repeats.
  private(set) var rows: [Row] = []
  /// Whether they are all rows that match.
  private(set) var isComplete = true

  /// - Parameter words: an FTS5 query without columns.
  init(of words: String, in index: SearchIndex, scopes: [Int64], _ database: Database) throws {
    let expression = index.expression(words, scopes: scopes)
    try add(expression, index, before: nil, limit: Self.rowsMax + 1, database)
    guard rows.count > Self.rowsMax else { return }
    isComplete = false
    rows.removeLast()
    // With one field, each row that matches has the words in the first one.
    guard index.fields.count > 1, let last = rows.last else { return }
    // The words in all fields, since the score counts the places that the query names.
    let titles = "\(index.expression(words, inFields: 0..<1)) AND \(expression)"
    try add(titles, index, before: last.number, limit: Self.titlesMax, database)
  }

  /// Adds rows that match, the latest first.
  ///
  /// - Parameter number: the row number below which to begin; nil to begin with the last row.
  private mutating func add(
    _ expression: String, _ index: SearchIndex, before number: Int64?, limit: Int,
    _ database: Database
  ) throws {
    let statement = try PreparedStatement(database, Self.sql(index, isBounded: number != nil))
    statement.bind(expression, at: 1)
    statement.bind(Int64(limit), at: 2)
    if let number { statement.bind(number, at: 3) }
    defer { statement.reset() }
    while try statement.step() {
      rows.append(Row(number: statement.int64(0), score: statement.real(1)))
    }
  }

  /// Returns the statement that selects the rows of a query; ?1 is the query, ?2 the maximum of rows, ?3 the row number
  /// below which to begin.
  static func sql(_ index: SearchIndex, isBounded: Bool) -> String {
    """
    SELECT rowid, \(SearchScoreFunction.name)(\(index.name)) FROM \(index.name) \
    WHERE \(index.name) MATCH ?1\(isBounded ? " AND rowid < ?3" : "") ORDER BY rowid DESC LIMIT ?2
    """
  }
}
