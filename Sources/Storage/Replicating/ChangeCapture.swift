import GRDB
import GRDBSQLite
import Glibc

/// Notes which rows a connection changes, by SQLite's preupdate hook
/// (<https://www.sqlite.org/c3ref/preupdate_count.html>).
///
/// It keeps keys and no values: what a transaction did to a row is read from the row at its end. So a row that
/// was changed ten times is one image, and one whose change was rolled back to a savepoint is an image of what
/// was there before. The hook also sees the rows that `ON CONFLICT REPLACE`, foreign keys and triggers change,
/// and those of the tables in which FTS5 keeps its words.
// SAFETY: touched on the writer's serial queue only, or before the store is open.
final class ChangeCapture: @unchecked Sendable {
  typealias Hook =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
      Int64, Int64
    ) -> Void
  private typealias InstallHook =
    @convention(c) (OpaquePointer?, Hook?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  private typealias ReadValue =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32

  /// The functions that SQLite has if it was built with `SQLITE_ENABLE_PREUPDATE_HOOK`, as Debian's, Fedora's
  /// and Alpine's are. The usual header does not declare them.
  private struct Functions {
    let install: InstallHook
    let old: ReadValue
    let new: ReadValue

    init?() {
      guard let install = Self.find("sqlite3_preupdate_hook"),
        let old = Self.find("sqlite3_preupdate_old"),
        let new = Self.find("sqlite3_preupdate_new")
      else { return nil }
      self.install = unsafeBitCast(install, to: InstallHook.self)
      self.old = unsafeBitCast(old, to: ReadValue.self)
      self.new = unsafeBitCast(new, to: ReadValue.self)
    }

    private static func find(_ name: String) -> UnsafeMutableRawPointer? { dlsym(nil, name) }
  }

  /// The rows of one table.
  struct Touched {
    var numbers: Set<Int64> = []
    var keys: Set<[StoredValue]> = []
  }

  private let functions: Functions
  private var touched: [String: Touched] = [:]
  /// The keys of tables without row numbers, by name; nil for other tables.
  private var keys: [String: [Int32]?] = [:]
  /// Whether a row was changed that cannot be identified.
  private(set) var isIncomplete = false

  /// Returns nil if the SQLite that the program runs with has no such hook.
  init?() {
    guard let functions = Functions() else { return nil }
    self.functions = functions
  }

  /// Returns the capture that a store of a role needs.
  static func forRole(_ role: StoreRole) throws(StorageError) -> ChangeCapture? {
    guard case .leader = role else { return nil }
    guard let capture = ChangeCapture() else {
      throw .failed(
        code: 0,
        message: "a cluster needs an SQLite that was built with SQLITE_ENABLE_PREUPDATE_HOOK")
    }
    return capture
  }

  /// Whether the SQLite that the program runs with can report changes.
  static var isSupported: Bool { Functions() != nil }

  /// Begins to note the connection's changes. The capture must outlive the connection.
  func install(on database: Database) {
    _ = functions.install(
      database.sqliteConnection,
      { context, connection, operation, _, table, old, new in
        guard let context, let connection, let table else { return }
        Unmanaged<ChangeCapture>.fromOpaque(context).takeUnretainedValue()
          .note(connection, operation, String(cString: table), old, new)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Learns how the rows of all tables are identified. To be called whenever the schema has changed.
  func learn(_ shapes: some Sequence<TableShape>) {
    keys = Dictionary(
      shapes.map { ($0.name, $0.key?.map(\.place)) }, uniquingKeysWith: { first, _ in first })
  }

  var isEmpty: Bool { touched.isEmpty }

  /// Returns the rows noted since the last call, by table.
  func take() -> [String: Touched] {
    defer { touched = [:] }
    return touched
  }

  func forget() {
    touched = [:]
    isIncomplete = false
  }

  private func note(
    _ connection: OpaquePointer, _ operation: Int32, _ table: String, _ old: Int64, _ new: Int64
  ) {
    guard let places = keys[table] ?? nil else {
      // A table of this transaction's making, whose form is not known yet, is read whole at its end.
      touched[table, default: Touched()].numbers.formUnion(
        operation == SQLITE_INSERT ? [new] : operation == SQLITE_DELETE ? [old] : [old, new])
      return
    }
    if operation != SQLITE_INSERT { note(functions.old, connection, places, in: table) }
    if operation != SQLITE_DELETE { note(functions.new, connection, places, in: table) }
  }

  private func note(
    _ read: ReadValue, _ connection: OpaquePointer, _ places: [Int32], in table: String
  ) {
    var key: [StoredValue] = []
    for place in places {
      var value: OpaquePointer?
      guard read(connection, place, &value) == SQLITE_OK, let value else {
        isIncomplete = true
        return
      }
      key.append(StoredValue(value))
    }
    touched[table, default: Touched()].keys.insert(key)
  }
}

extension StoredValue {
  /// Reads a value of SQLite's, valid until the end of the call that gave it.
  fileprivate init(_ value: OpaquePointer) {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: self = .null
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(value)
      self = .blob(Self.bytes(start, Int(sqlite3_value_bytes(value))))
    default:
      let start = sqlite3_value_text(value)
      self = .text(Self.bytes(start, Int(sqlite3_value_bytes(value))))
    }
  }

  private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }
}
