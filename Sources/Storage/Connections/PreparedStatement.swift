import Filtering
import GRDB
import GRDBSQLite
import Model
import Synchronization

/// A statement from GRDB's cache, driven through SQLite's C interface.
///
/// GRDB's own argument and row types cost more than SQLite does on small rows; this borrows text in
/// both directions. Used on the connection's own queue only, and never for two purposes at once:
/// the cache returns the same statement for the same SQL.
struct PreparedStatement {
  private let statement: Statement
  private let handle: OpaquePointer

  /// - Parameter bindsAll: whether each parameter is bound, so that old bindings need not be
  ///   cleared.
  init(_ db: Database, _ sql: String, bindsAll: Bool = false) throws {
    statement = try db.cachedStatement(sql: sql)
    handle = statement.sqliteStatement
    // GRDB leaves a used statement un-reset; binding to it would fail silently.
    sqlite3_reset(handle)
    if !bindsAll { sqlite3_clear_bindings(handle) }
  }

  /// Prepares a statement whose text depends on the shape of a client's request. The first such
  /// texts are cached, as the usual ones come early; the cache evicts none, so the others are
  /// prepared each time.
  init(_ db: Database, shaped sql: String) throws {
    if ShapedTexts.isCached(sql) {
      try self.init(db, sql)
    } else {
      try self.init(db, once: sql)
    }
  }

  /// Prepares a statement whose text is of a client's making: there are many such texts, and the
  /// cache evicts none.
  init(_ db: Database, once sql: String) throws {
    statement = try db.makeStatement(sql: sql)
    handle = statement.sqliteStatement
  }

  // MARK: Parameters, counted from 1

  func bind(_ value: Int64, at index: Int32) {
    sqlite3_bind_int64(handle, index, value)
  }

  func bind(_ value: Int64?, at index: Int32) {
    if let value { bind(value, at: index) } else { sqlite3_bind_null(handle, index) }
  }

  func bind(real value: Double, at index: Int32) {
    sqlite3_bind_double(handle, index, value)
  }

  func bind(_ text: String, at index: Int32) {
    var text = text
    text.withUTF8 { bindCopying($0, at: index) }
  }

  func bind(_ text: [UInt8]?, at index: Int32) {
    guard let text else {
      sqlite3_bind_null(handle, index)
      return
    }
    text.withUnsafeBufferPointer { bindCopying($0, at: index) }
  }

  private func bindCopying(_ text: UnsafeBufferPointer<UInt8>, at index: Int32) {
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    _ = text.withMemoryRebound(to: CChar.self) { characters in
      // A null pointer would bind NULL; an empty text is still a text.
      if let base = characters.baseAddress {
        sqlite3_bind_text(handle, index, base, Int32(characters.count), copies)
      } else {
        sqlite3_bind_text(handle, index, "", 0, copies)
      }
    }
  }

  func bind(_ value: StoredValue, at index: Int32) {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let number): bind(number, at: index)
    case .real(let number): bind(real: number, at: index)
    case .text(let text): bind(text, at: index)
    case .blob(let bytes):
      let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      bytes.withUnsafeBytes { content in
        if let base = content.baseAddress {
          _ = sqlite3_bind_blob(handle, index, base, Int32(content.count), copies)
        } else {
          _ = sqlite3_bind_zeroblob(handle, index, 0)
        }
      }
    }
  }

  // MARK: Running

  /// - Returns: whether there is a row.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let connection = sqlite3_db_handle(handle)
      let error = DatabaseError(
        resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
        message: String(cString: sqlite3_errmsg(connection)))
      sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs a statement that returns no rows, and resets it for the next parameters.
  func run() throws {
    while try step() {}
    sqlite3_reset(handle)
  }

  func reset() {
    sqlite3_reset(handle)
  }

  // MARK: Columns, counted from 0

  func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

  /// Valid until the next step or reset; nil for NULL.
  func text(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
    guard let base = sqlite3_column_text(handle, column) else { return nil }
    return UnsafeBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column)))
  }

  func string(_ column: Int32) -> String {
    text(column).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Returns a column in its storage class; a blob is read as text.
  func value(_ column: Int32) -> FilterValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: .null
    case SQLITE_INTEGER: .integer(int64(column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
    default: .text(string(column))
    }
  }

  func bytes(_ column: Int32) -> [UInt8]? { text(column).map(Array.init) }

  /// Returns a column as it is stored.
  func stored(_ column: Int32) -> StoredValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(int64(column))
    case SQLITE_FLOAT: return .real(real(column))
    case SQLITE_BLOB:
      let start = sqlite3_column_blob(handle, column)
      let count = start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    default: return .text(bytes(column) ?? [])
    }
  }
}

/// The cached texts of statements that are shaped by clients' requests.
enum ShapedTexts {
  /// A statement takes a few kilobytes on each of the connections.
  private static let countMax = 256

  private static let cached = Mutex<Set<String>>([])

  /// Whether a text is cached: the first ones are, up to the limit.
  static func isCached(_ text: String) -> Bool {
    cached.withLock { cached in
      if cached.contains(text) { return true }
      guard cached.count < countMax else { return false }
      return cached.insert(text).inserted
    }
  }
}
