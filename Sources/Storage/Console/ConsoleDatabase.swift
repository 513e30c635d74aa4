import GRDB
import GRDBSQLite
import Model

/// A connection for one SQL statement of an operator: read-only, restricted by ``ConsoleRules``, with
/// limits on the work and memory SQLite can spend on it.
struct ConsoleDatabase: ~Copyable {
  /// SQLite instructions between two checks of the deadline: well below a millisecond.
  private static let instructionsPerLook: Int32 = 1_000
  /// Bytes of one text, blob or row, so that a statement cannot exhaust memory. Together with the limit of
  /// columns it bounds the memory of one row while SQLite computes it.
  private static let valueBytesMax: Int32 = 1 << 20
  private static let columnsMax: Int32 = 200
  private static let sqlBytesMax: Int32 = 100_000
  /// Instructions of one compiled statement. SQLite checks the deadline only at jumps, so this bounds what
  /// can run between two checks.
  private static let instructionsMax: Int32 = 5_000
  /// Bytes of a `GLOB` pattern, whose time grows with the product of pattern and text.
  private static let patternBytesMax: Int32 = 100

  private let connection: OpaquePointer
  private let monitor: Monitor

  /// The context of SQLite's callbacks, which run on the statement's thread.
  private final class Monitor {
    let mayGoOn: @Sendable () -> Bool
    let slot = WatchSlot()
    /// Whether the authorizer denied something: SQLite's error code does not always show it.
    var hasDenied = false

    init(_ mayGoOn: @escaping @Sendable () -> Bool) {
      self.mayGoOn = mayGoOn
    }
  }

  init(path: String, mayGoOn: @escaping @Sendable () -> Bool) throws(SQLFault) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, nil)
    guard let opened else { throw .unavailable(.failed(code: code, message: "out of memory")) }
    guard code == SQLITE_OK else {
      let message = String(cString: sqlite3_errmsg(opened))
      sqlite3_close_v2(opened)
      throw .unavailable(.failed(code: code, message: message))
    }
    connection = opened
    monitor = Monitor(mayGoOn)
    monitor.slot.isStopped = { !mayGoOn() }
    ConsoleFunctions.install(on: opened, monitor.slot)
    limit(columns: max(Self.columnsMax, Self.widestTable(opened)))
  }

  deinit {
    sqlite3_close_v2(connection)
  }

  func answer(_ question: SQLQuestion) throws(SQLFault) -> SQLResult {
    let statement = try prepare(question.sql)
    defer { sqlite3_finalize(statement) }
    try bind(question.arguments, to: statement)
    guard sqlite3_column_count(statement) <= Self.columnsMax else {
      throw .refused(
        "the result has \(sqlite3_column_count(statement)) columns; the limit is \(Self.columnsMax)"
      )
    }
    let columns = (0..<sqlite3_column_count(statement)).map { column in
      sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
    }
    var rows: [[SQLValue]] = []
    var bytes = 0
    while try step(statement) {
      // Counted before anything is copied.
      for column in columns.indices { bytes += Self.byteCount(Int32(column), of: statement) }
      guard rows.count < question.rowsMax, bytes <= question.bytesMax else {
        return SQLResult(columns: columns, rows: rows, isTruncated: true)
      }
      rows.append(columns.indices.map { Self.value(Int32($0), of: statement) })
    }
    return SQLResult(columns: columns, rows: rows, isTruncated: false)
  }

  // MARK: Limits

  /// SQLite's column limit applies to tables too: a lower limit would keep it from reading the schema of a
  /// wider table.
  private static func widestTable(_ connection: OpaquePointer) -> Int32 {
    var statement: OpaquePointer?
    let sql = """
      SELECT max((SELECT count(*) FROM pragma_table_xinfo(m.name))) FROM sqlite_master AS m \
      WHERE m.type = 'table'
      """
    sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0
  }

  private func limit(columns: Int32) {
    let context = Unmanaged.passUnretained(monitor).toOpaque()
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Self.valueBytesMax)
    sqlite3_limit(connection, SQLITE_LIMIT_COLUMN, columns)
    sqlite3_limit(connection, SQLITE_LIMIT_VDBE_OP, Self.instructionsMax)
    sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, Self.patternBytesMax)
    sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, Self.sqlBytesMax)
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
    sqlite3_set_authorizer(
      connection,
      { context, action, first, second, _, _ in
        let first = first.map { String(cString: $0) } ?? ""
        let second = second.map { String(cString: $0) } ?? ""
        if ConsoleRules.allows(action, first.lowercased(), second.lowercased()) {
          return SQLITE_OK
        }
        guard let context else { return SQLITE_DENY }
        Unmanaged<Monitor>.fromOpaque(context).takeUnretainedValue().hasDenied = true
        return SQLITE_DENY
      }, context)
    sqlite3_progress_handler(
      connection, Self.instructionsPerLook,
      { context in
        guard let context else { return 1 }
        return Unmanaged<Monitor>.fromOpaque(context).takeUnretainedValue().mayGoOn() ? 0 : 1
      }, context)
  }

  // MARK: One statement

  private func prepare(_ sql: String) throws(SQLFault) -> OpaquePointer {
    var text = Array(sql.utf8)
    guard !text.contains(0) else { throw .refused("the statement contains a NUL character") }
    if let word = ConsoleKeywords.first(of: ConsoleKeywords.joinsByName, in: text) {
      throw .refused(
        "\(word) is not available here, since columns that are joined by name cannot be checked: write "
          + "JOIN … ON, or quote it if it is a name")
    }
    text.append(0)
    var statement: OpaquePointer?
    // The end of the first statement in the text.
    var end = 0
    let code = text.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v2(connection, characters.baseAddress, -1, &statement, &tail)
        if let tail, let base = characters.baseAddress { end = tail - base }
        return code
      }
    }
    if code == SQLITE_NOMEM { throw .refused("the statement is too long") }
    guard code == SQLITE_OK else { throw fault(code) }
    guard let statement else { throw .notOneStatement }
    guard try isEmpty(text[end...]) else {
      sqlite3_finalize(statement)
      throw .notOneStatement
    }
    return statement
  }

  /// Returns whether only whitespace, comments and semicolons are left.
  private func isEmpty(_ rest: ArraySlice<UInt8>) throws(SQLFault) -> Bool {
    var rest = rest.dropLast()
    while let first = rest.first {
      if first == UInt8(ascii: ";") || first <= UInt8(ascii: " ") {
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    guard !rest.isEmpty else { return true }
    // SQLite parses its own comments: a text that holds only comments compiles to no statement.
    var statement: OpaquePointer?
    let text = Array(rest) + [0]
    let code = text.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        sqlite3_prepare_v2(connection, $0.baseAddress, -1, &statement, nil)
      }
    }
    defer { sqlite3_finalize(statement) }
    return code == SQLITE_OK && statement == nil
  }

  private func step(_ statement: OpaquePointer) throws(SQLFault) -> Bool {
    let code = sqlite3_step(statement)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw fault(code)
    }
  }

  private func fault(_ code: Int32) -> SQLFault {
    let message = String(cString: sqlite3_errmsg(connection))
    if monitor.hasDenied { return .forbidden(message) }
    switch code & 0xFF {
    case SQLITE_INTERRUPT: return .tooCostly
    case SQLITE_AUTH, SQLITE_READONLY: return .forbidden(message)
    case SQLITE_CORRUPT, SQLITE_NOTADB: return .unavailable(.corrupt(message))
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_NOMEM:
      return .unavailable(.failed(code: code, message: message))
    default: return .refused(message)
    }
  }

  // MARK: Values

  private func bind(
    _ arguments: SQLArguments, to statement: OpaquePointer
  ) throws(SQLFault) {
    let count = Int(sqlite3_bind_parameter_count(statement))
    switch arguments {
    case .positional(let values):
      guard values.count == count else {
        throw .arguments([
          "the statement has \(count) parameters, but \(values.count) arguments were given"
        ])
      }
      for (place, value) in values.enumerated() {
        Self.bind(value, at: Int32(place + 1), of: statement)
      }
    case .named(let values):
      var missing: [String] = []
      var unused = Set(values.keys)
      for place in 0..<count {
        let index = Int32(place + 1)
        let name = sqlite3_bind_parameter_name(statement, index).map {
          String(String(cString: $0).dropFirst())
        }
        guard let name, let value = values[name] else {
          missing.append("parameter \(name ?? "number \(place + 1)") has no argument")
          continue
        }
        unused.remove(name)
        Self.bind(value, at: index, of: statement)
      }
      let faults = missing + unused.sorted().map { "the statement has no parameter \($0)" }
      guard faults.isEmpty else { throw .arguments(faults) }
    }
  }

  private static func bind(_ value: SQLValue, at index: Int32, of statement: OpaquePointer) {
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let number): sqlite3_bind_int64(statement, index, number)
    case .real(let number): sqlite3_bind_double(statement, index, number)
    case .text(let text):
      sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copies)
    case .blob(let bytes):
      sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copies)
    }
  }

  private static func value(_ column: Int32, of statement: OpaquePointer) -> SQLValue {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      let text = sqlite3_column_text(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return .text(
        String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      let bytes = sqlite3_column_blob(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    default: return .null
    }
  }

  /// The number of bytes that a column adds to the result. Converts and copies nothing.
  private static func byteCount(_ column: Int32, of statement: OpaquePointer) -> Int {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_TEXT, SQLITE_BLOB: 8 + Int(sqlite3_column_bytes(statement, column))
    default: 8
    }
  }
}

/// The permissions of operators' SQL statements: reading all tables, except columns that hold secrets.
///
/// New tables are readable at once, so the name of a column with a secret must end in one of the listed
/// suffixes. Entity tables hold upstream data, and all their columns are readable.
enum ConsoleRules {
  private static let secretEndings = [
    "_digest", "_hash", "_token", "_secret", "_sealed", "_credential", "password",
  ]
  /// Virtual tables that show raw pages or statements, and so bypass the rule for columns.
  private static let closedTables: Set<String> = [
    "sqlite_dbpage", "sqlite_stmt", "bytecode", "tables_used",
  ]
  private static let closedFunctions: Set<String> = [
    "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer",
    // Its time grows with the product of its arguments' lengths, and it cannot be interrupted.
    "json_patch",
    // They hold everything that they collect in memory, beyond the limit of a value.
    "json_group_array", "json_group_object",
  ]

  static func isSecret(column: String, of table: String) -> Bool {
    !table.hasPrefix("entity_") && secretEndings.contains { column.hasSuffix($0) }
  }

  /// - Parameters: those of SQLite's authorizer callback; their meaning depends on the action.
  static func allows(_ action: Int32, _ first: String, _ second: String) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE: true
    case SQLITE_READ:
      !closedTables.contains(first) && !isSecret(column: second, of: first)
    // SQLite requests this while it prepares a table-valued function; it permits no write.
    case SQLITE_UPDATE: first == "sqlite_master"
    case SQLITE_FUNCTION: !closedFunctions.contains(second)
    default: false
    }
  }
}
