import GRDB
import Model

/// The indexes of one type over forms of texts: without case, without diacritics, in small letters.
///
/// The statement that made an index is compared with the one that would make it now, so that an index from
/// another version of Unicode, whose forms differ, is made again.
struct TextIndexes {
  let id: Int64
  let table: String

  /// Drops all but the given ones. Before columns change: a column with an index cannot be dropped.
  func dropOthers(than wanted: [EntityType.TextIndex], _ db: Database) throws {
    let wanted = try statements(wanted, db)
    for (name, sql) in try made(db) where wanted[name] != sql {
      try db.execute(sql: "DROP INDEX \(EntityTable.quoted(name))")
    }
  }

  /// Makes the given ones that do not exist; their columns must exist.
  func make(_ wanted: [EntityType.TextIndex], _ db: Database) throws {
    let made = try made(db)
    for (name, sql) in try statements(wanted, db).sorted(by: { $0.key < $1.key })
    where made[name] == nil {
      try db.execute(sql: sql)
    }
  }

  /// Returns the forms and columns of the indexes that exist.
  func suffixes(_ db: Database) throws -> Set<String> {
    Set(try made(db).keys.map { String($0.dropFirst(prefix.count)) })
  }

  static func suffix(_ form: ComparedForm, _ column: String) -> String {
    "\(form.rawValue)_\(column)"
  }

  private var prefix: String { "text_index_\(id)_" }

  private func made(_ db: Database) throws -> [String: String] {
    let rows = try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ?",
      arguments: [table])
    return rows.reduce(into: [:]) { made, row in
      guard let name: String = row["name"], name.hasPrefix(prefix) else { return }
      made[name] = row["sql"]
    }
  }

  /// Returns the statements by the names of the indexes, of columns that exist.
  private func statements(
    _ indexes: [EntityType.TextIndex], _ db: Database
  ) throws -> [String: String] {
    var statements: [String: String] = [:]
    for index in indexes {
      let column = try String.fetchOne(
        db, sql: "SELECT column_name FROM entity_column WHERE type = ? AND field = ?",
        arguments: [id, index.column])
      guard let column else { continue }
      let form = ComparedForm(index.form)
      let name = prefix + Self.suffix(form, column)
      statements[name] = """
        CREATE INDEX \(EntityTable.quoted(name)) ON \(EntityTable.quoted(table)) \
        (scope, \(form.sql(EntityTable.quoted(column))), key)
        """
    }
    return statements
  }
}
