import GRDB
import GRDBSQLite
import Glibc

/// Applies log rows to a replica's database, inside an open transaction.
///
/// The connection has foreign keys and triggers switched off: a row holds what they did on the leader.
struct LogApplier {
  private typealias Configure =
    @convention(c) (OpaquePointer?, Int32, Int32, UnsafeMutablePointer<Int32>?) -> Int32
  /// `SQLITE_DBCONFIG_ENABLE_TRIGGER` (<https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>).
  private static let enableTriggers: Int32 = 1003

  private var shapes: [String: TableShape] = [:]

  /// Switches the triggers of a connection off.
  static func switchTriggersOff(_ database: Database) throws {
    _ = try setTriggers(0, database)
    guard try setTriggers(-1, database) == 0 else {
      throw StorageError.failed(code: 0, message: "triggers could not be switched off")
    }
  }

  /// Runs the body with triggers, also on a connection where they are switched off.
  static func withTriggers<Output>(
    _ database: Database, _ body: () throws -> Output
  ) throws -> Output {
    guard try setTriggers(-1, database) == 0 else { return try body() }
    _ = try setTriggers(1, database)
    defer { try? switchTriggersOff(database) }
    return try body()
  }

  /// - Parameter state: 1 for on, 0 for off, negative to change nothing.
  /// - Returns: the state after the call.
  private static func setTriggers(_ state: Int32, _ database: Database) throws -> Int32 {
    // Swift cannot call functions with variable arguments; on Linux these take them as others do.
    guard let found = dlsym(nil, "sqlite3_db_config") else {
      throw StorageError.failed(code: 0, message: "SQLite has no sqlite3_db_config")
    }
    let configure = unsafeBitCast(found, to: Configure.self)
    var isOn: Int32 = 1
    let code = configure(database.sqliteConnection, enableTriggers, state, &isOn)
    guard code == SQLITE_OK else {
      throw StorageError.failed(code: code, message: "triggers could not be switched")
    }
    return isOn
  }

  mutating func apply(_ payload: LogPayload, _ database: Database) throws {
    if !payload.schema.isEmpty {
      try payload.schema.applyToTables(database)
      shapes = [:]
    }
    var known: [TableShape] = []
    for table in payload.tables {
      let shape = try shape(of: table.name, database)
      guard shape.columns == table.columns else {
        throw StorageError.diverged("the table \(table.name) has other columns than the leader's")
      }
      known.append(shape)
      // All old rows go before the first new one comes: two rows can have exchanged a unique value.
      try delete(table.gone, of: shape, database)
      try delete(table.there.lazy.map(shape.key), of: shape, database)
    }
    for (table, shape) in zip(payload.tables, known) {
      try insert(table.there, into: shape, database)
      if let sequence = table.sequence { try set(sequence, of: table.name, database) }
    }
    try payload.schema.makeOthers(database)
  }

  private mutating func shape(of name: String, _ database: Database) throws -> TableShape {
    if let known = shapes[name] { return known }
    guard let shape = try TableShape(name, database) else {
      throw StorageError.diverged("the table \(name) is missing")
    }
    shapes[name] = shape
    return shape
  }

  private func delete(
    _ keys: some Sequence<[StoredValue]>, of shape: TableShape, _ database: Database
  ) throws {
    let statement = try PreparedStatement(database, shape.delete)
    for key in keys {
      for (index, value) in key.enumerated() { statement.bind(value, at: Int32(index + 1)) }
      try statement.run()
    }
  }

  private func insert(
    _ rows: [[StoredValue]], into shape: TableShape, _ database: Database
  ) throws {
    guard !rows.isEmpty else { return }
    let statement = try PreparedStatement(database, shape.insert)
    for row in rows {
      guard row.count == shape.width else {
        throw StorageError.diverged("a row of \(shape.name) has \(row.count) values")
      }
      for (index, value) in row.enumerated() { statement.bind(value, at: Int32(index + 1)) }
      try statement.run()
    }
  }

  private func set(_ sequence: Int64, of table: String, _ database: Database) throws {
    try database.execute(
      sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [table])
    try database.execute(
      sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, sequence])
  }
}
