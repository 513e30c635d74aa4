import GRDB

/// The rows of one scope that contain the words of a search: all of them, or a choice where there are more than
/// ``rowsMax``.
///
/// The choice is the rows stored last, and of the others those stored last that have the words in the first field.
/// FTS5 finds both in the order of row numbers, and so without looking at all rows that match. The scope is part of
/// the query: other callers' rows affect neither the choice nor whether there is one.
struct SearchCandidates {
  /// Maximum rows that are ranked against each other: some 10 ms of scoring.
  static let rowsMax = 5_000
  /// Maximum further rows, with the words in the first field, if there are more than ``rowsMax``.
  static let titlesMax = 500

  struct Row {
    let number: Int64
    /// 0 if no scores were asked for.
    let score: Double
  }

  private(set) var rows: [Row] = []
  /// The numbers of rows with the words in the first field that are not in ``rows``.
  private(set) var titles: [Int64] = []

  /// Whether there are no other rows that match.
  private(set) var isComplete = true

  /// - Parameter words: an FTS5 query without columns.
  init(
    of words: String, in index: SearchIndex, scope: Int64, isScored: Bool, _ database: Database
  ) throws {
    let statement = try PreparedStatement(database, Self.rowsSQL(index, isScored: isScored))
    statement.bind(index.expression(words, scope: scope), at: 1)
    statement.bind(Int64(Self.rowsMax + 1), at: 2)
    defer { statement.reset() }
    while try statement.step() {
      rows.append(Row(number: statement.int64(0), score: statement.real(1)))
    }
    guard rows.count > Self.rowsMax else { return }
    rows.removeLast()
    isComplete = false
    try addTitles(words, index, scope, database)
  }

  private mutating func addTitles(
    _ words: String, _ index: SearchIndex, _ scope: Int64, _ database: Database
  ) throws {
    // With one field, each row that matches has the words in the first one.
    guard let sql = Self.titlesSQL(index), let last = rows.last else { return }
    let statement = try PreparedStatement(database, sql)
    statement.bind(index.expression(words, scope: scope, isOfTitles: true), at: 1)
    statement.bind(Int64(Self.titlesMax), at: 2)
    statement.bind(last.number, at: 3)
    defer { statement.reset() }
    while try statement.step() { titles.append(statement.int64(0)) }
  }

  /// Returns the statement that selects rows of the index, the last ones first: ?1 is the query, ?2 the maximum.
  static func rowsSQL(_ index: SearchIndex, isScored: Bool) -> String {
    let score = isScored ? "\(SearchScoreFunction.name)(\(index.name))" : "0"
    return """
      SELECT rowid, \(score) FROM \(index.name) WHERE \(index.name) MATCH ?1 \
      ORDER BY rowid DESC LIMIT ?2
      """
  }

  /// Returns the statement that selects rows of the index over the first field, if there is one: as ``rowsSQL``, with
  /// row numbers below ?3.
  static func titlesSQL(_ index: SearchIndex) -> String? {
    index.titlesName.map { name in
      """
      SELECT rowid FROM \(name) WHERE \(name) MATCH ?1 AND rowid < ?3 ORDER BY rowid DESC LIMIT ?2
      """
    }
  }
}
