import GRDB

/// Reads the log's rows of several scopes in the order of (revision, type, key), section by
/// section.
struct ChangeScan {
  private let database: Database
  private let scopes: [Int64]

  init(_ database: Database, scopes: [Int64]) {
    self.database = database
    self.scopes = scopes
  }

  /// Returns the next rows; an entity that changed in several scopes at one revision is included
  /// once.
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

  /// Returns the row at a place; nil if its entity has changed since.
  func row(at place: (revision: Int64, type: Int64, key: String)) throws -> ChangeRow? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(ChangeRow.columns) FROM change WHERE scope IN (SELECT value FROM json_each(?1)) \
      AND type = ?2 AND key = ?3 AND revision = ?4 LIMIT 1
      """)
    statement.bind(KeyList.json(numbers: scopes), at: 1)
    statement.bind(place.type, at: 2)
    statement.bind(place.key, at: 3)
    statement.bind(place.revision, at: 4)
    defer { statement.reset() }
    return try statement.step() ? ChangeRow(statement) : nil
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

/// A row of `change`.
struct ChangeRow {
  let type: Int64
  let key: String
  let created: Int64
  let revision: Int64
  let kind: ChangeKind
  /// The revision at which a tombstone was last overwritten or purged here: the rows it hid were
  /// hidden before.
  let lifted: Int64

  /// The columns that a row is read from, in their order.
  static let columns = "type, key, created, revision, kind, lifted"

  /// Reads ``columns``, starting at the column `first`.
  init(_ statement: PreparedStatement, first: Int32 = 0) {
    type = statement.int64(first)
    key = statement.string(first + 1)
    created = statement.int64(first + 2)
    revision = statement.int64(first + 3)
    kind = ChangeKind(rawValue: statement.int64(first + 4)) ?? .present
    lifted = statement.int64(first + 5)
  }

  /// Whether a reader of the log up to `base` has seen the entity as existing.
  func wasPresent(at base: Int64) -> Bool {
    created <= base && (kind != .deleted || revision > base)
  }

  /// The position in the log.
  var place: (Int64, Int64, String) { (revision, type, key) }

  /// Returns the position inside the entities that the change concerns, after one of them.
  func inside(_ concerned: String) -> LogPosition {
    LogPosition(revision: revision, type: type, key: key, concerned: concerned)
  }
}
