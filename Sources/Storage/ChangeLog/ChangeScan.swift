import GRDB

/// Reads the log's rows of several scopes in the order of (revision, type, key), one stretch after
/// the other.
struct ChangeScan {
  private let database: Database
  private let scopes: [Int64]

  init(_ database: Database, scopes: [Int64]) {
    self.database = database
    self.scopes = scopes
  }

  /// The next rows; an entity that changed in several scopes at one revision is here once.
  func rows(
    after last: (revision: Int64, type: Int64, key: String), limit: Int
  ) throws -> [ChangeRow] {
    if scopes.count == 1 { return try rows(of: scopes[0], after: last, limit: limit) }
    var merged = try scopes.flatMap { try rows(of: $0, after: last, limit: limit) }
    merged.sort { $0.place < $1.place }
    var distinct: [ChangeRow] = []
    for row in merged where distinct.count < limit {
      if let previous = distinct.last, previous.place == row.place { continue }
      distinct.append(row)
    }
    return distinct
  }

  private func rows(
    of scope: Int64, after last: (revision: Int64, type: Int64, key: String), limit: Int
  ) throws -> [ChangeRow] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(ChangeRow.columns) FROM change INDEXED BY change_by_revision \
      WHERE scope = ?1 AND (revision, type, key) > (?2, ?3, ?4) \
      ORDER BY revision, type, key LIMIT ?5
      """)
    statement.bind(scope, at: 1)
    statement.bind(last.revision, at: 2)
    statement.bind(last.type, at: 3)
    statement.bind(last.key, at: 4)
    statement.bind(Int64(limit), at: 5)
    defer { statement.reset() }
    var rows: [ChangeRow] = []
    while try statement.step() { rows.append(ChangeRow(statement)) }
    return rows
  }
}
