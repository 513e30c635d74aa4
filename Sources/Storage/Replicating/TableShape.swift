import GRDB

/// How the rows of a table are identified and what they contain.
struct TableShape: Sendable {
  let name: String
  /// The columns of the primary key, in its order, for a table without row numbers; nil for others.
  let key: [Column]?
  /// The stored columns; generated ones are left out.
  let columns: [String]
  /// Whether SQLite keeps the highest row number that the table ever had.
  let countsRows: Bool

  struct Column: Sendable {
    let name: String
    /// Its place among all columns of the table, generated ones included.
    let place: Int32
  }

  /// Returns nil if there is no such table.
  init?(_ name: String, _ db: Database) throws {
    guard
      let row = try Row.fetchOne(
        db, sql: "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?",
        arguments: [name]),
      row["type"] != "view"
    else { return nil }
    let hasRowNumbers = row["wr"] as Int64 == 0
    self.name = name
    let columns = try Row.fetchAll(
      db, sql: "SELECT cid, name, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
      arguments: [name])
    // 2 and 3 are generated columns (<https://www.sqlite.org/pragma.html#pragma_table_xinfo>).
    self.columns = columns.filter { ($0["hidden"] as Int64) < 2 }.map { $0["name"] }
    key =
      hasRowNumbers
      ? nil
      : columns.filter { ($0["pk"] as Int64) > 0 }.sorted { ($0["pk"] as Int64) < $1["pk"] }
        .map { Column(name: $0["name"], place: Int32($0["cid"] as Int64)) }
    let sql = try String.fetchOne(
      db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [name])
    countsRows = sql?.uppercased().contains("AUTOINCREMENT") == true
  }

  /// The name of the column that is an alias of the row number is written like others, so the row number is
  /// written on its own only where there is no such column. Writing both is allowed as long as they agree.
  private var written: [String] { (key == nil ? ["rowid"] : []) + columns.map(EntityTable.quoted) }

  private var condition: String {
    guard let key else { return "rowid = ?1" }
    return key.enumerated().map { "\(EntityTable.quoted($1.name)) IS ?\($0 + 1)" }
      .joined(separator: " AND ")
  }

  /// Selects the columns of ``insert`` of the row with a key.
  var select: String {
    "SELECT \(written.joined(separator: ", ")) FROM \(EntityTable.quoted(name)) WHERE \(condition)"
  }

  var delete: String { "DELETE FROM \(EntityTable.quoted(name)) WHERE \(condition)" }

  var insert: String {
    """
    INSERT INTO \(EntityTable.quoted(name)) (\(written.joined(separator: ", "))) VALUES \
    (\(written.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))
    """
  }

  /// Selects the columns of ``insert`` of all rows.
  var selectAll: String {
    "SELECT \(written.joined(separator: ", ")) FROM \(EntityTable.quoted(name))"
  }

  /// The number of values of a row's image.
  var width: Int { written.count }

  /// Returns the key in a row's image.
  func key(of row: [StoredValue]) -> [StoredValue] {
    guard let key else { return Array(row.prefix(1)) }
    return key.compactMap { column in columns.firstIndex(of: column.name).map { row[$0] } }
  }
}
