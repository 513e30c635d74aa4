import GRDB
import GRDBSQLite
import Model

/// A connection for one statement of an operator's: read-only, under ``ConsoleRules``, with limits
/// on what SQLite makes of it.
struct ConsoleDatabase: ~Copyable {
  /// SQLite's instructions between two looks at the deadline: well below a millisecond.
  private static let instructionsPerLook: Int32 = 1_000
  /// Of one text, blob or row, so that a statement cannot fill the memory. Together with the columns
  /// it bounds what one row takes while SQLite computes it.
  private static let valueBytesMax: Int32 = 1 << 20
  private static let columnsMax: Int32 = 200
  private static let sqlBytesMax: Int32 = 100_000
  /// Instructions of one statement: what can run between two jumps, where SQLite looks at the deadline.
  private static let instructionsMax: Int32 = 5_000
  /// Of a pattern of `GLOB`, whose time grows with the product of pattern and text.
  private static let patternBytesMax: Int32 = 100

  private let connection: OpaquePointer
  private let guardian: Guardian

  /// What SQLite's callbacks are given; they come on the thread that runs the statement.
  private final class Guardian {
    let mayGoOn: @Sendable () -> Bool
    let slot = WatchSlot()
    /// SQLite does not always say that it failed because of a rule.
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
    guardian = Guardian(mayGoOn)
    guardian.slot.isStopped = { !mayGoOn() }
    ConsoleFunctions.install(on: opened, guardian.slot)
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
        "the result has \(sqlite3_column_count(statement)) columns, at most \(Self.columnsMax)")
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

  /// SQLite's limit of columns is of tables too: with a lower one it cannot read a wide table's schema.
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
    let context = Unmanaged.passUnretained(guardian).toOpaque()
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
        Unmanaged<Guardian>.fromOpaque(context).takeUnretainedValue().hasDenied = true
        return SQLITE_DENY
      }, context)
    sqlite3_progress_handler(
      connection, Self.instructionsPerLook,
      { context in
        guard let context else { return 1 }
        return Unmanaged<Guardian>.fromOpaque(context).takeUnretainedValue().mayGoOn() ? 0 : 1
      }, context)
  }

  // MARK: One statement

  private func prepare(_ sql: String) throws(SQLFault) -> OpaquePointer {
    var text = Array(sql.utf8)
    guard !text.contains(0) else { throw .refused("the statement holds a NUL character") }
    text.append(0)
    var statement: OpaquePointer?
    // Where in the text the first statement ends.
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

  /// Whether nothing but blanks, comments and semicolons is left.
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
    // SQLite knows its comments best: a text of them alone makes no statement.
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
    if guardian.hasDenied { return .forbidden(message) }
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
        throw .arguments(["the statement takes \(count) and \(values.count) are given"])
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
          missing.append("\(name ?? "number \(place + 1)") is missing")
          continue
        }
        unused.remove(name)
        Self.bind(value, at: index, of: statement)
      }
      let faults = missing + unused.sorted().map { "\($0) is not in the statement" }
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

  /// What a column takes in the answer. Does not convert it, so nothing is copied.
  private static func byteCount(_ column: Int32, of statement: OpaquePointer) -> Int {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_TEXT, SQLITE_BLOB: 8 + Int(sqlite3_column_bytes(statement, column))
    default: 8
    }
  }
}
