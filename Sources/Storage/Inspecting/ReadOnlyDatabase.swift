import GRDB
import GRDBSQLite

/// A read-only connection to a database file through SQLite's C interface. URI parameters control whether
/// SQLite creates files next to the database, and GRDB does not accept them.
struct ReadOnlyDatabase: ~Copyable {
  private let connection: OpaquePointer

  /// - Parameter parameters: parameters of SQLite's `file:` URI, such as `immutable=1`.
  init(path: String, parameters: String = "mode=ro") throws {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    let code = sqlite3_open_v2(Self.uri(path, parameters), &opened, flags, nil)
    guard let opened else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
    guard code == SQLITE_OK else {
      let error = Self.error(on: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    connection = opened
    // A copy and a deep check compute what is in indexes again.
    TextFunctions.install(on: opened, WatchSlot())
  }

  deinit {
    sqlite3_close_v2(connection)
  }

  /// Steps of SQLite's virtual machine between two calls of a watcher; some milliseconds.
  private static let watchedSteps: Int32 = 1_000_000

  /// Runs a long statement.
  ///
  /// - Parameter watch: called while it runs.
  func execute(_ sql: String, watch: @escaping () -> Void) throws {
    let watcher = StatementWatcher(watch)
    sqlite3_progress_handler(
      connection, Self.watchedSteps,
      { context in
        if let context {
          Unmanaged<StatementWatcher>.fromOpaque(context).takeUnretainedValue().call()
        }
        return 0
      }, Unmanaged.passUnretained(watcher).toOpaque())
    defer { sqlite3_progress_handler(connection, 0, nil, nil) }
    try withExtendedLifetime(watcher) { _ = try strings(sql) }
  }

  /// Returns the first column of each row.
  func strings(_ sql: String) throws -> [String] {
    try rows(sql).map { $0.first ?? "" }
  }

  /// Returns the first column of the first row; 0 for NULL or no row.
  func number(_ sql: String) throws -> Int {
    Int(try strings(sql).first ?? "") ?? 0
  }

  /// Returns every column of every row as text.
  func rows(_ sql: String) throws -> [[String]] {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &prepared, nil) == SQLITE_OK else {
      throw Self.error(on: connection)
    }
    defer { sqlite3_finalize(prepared) }
    var rows: [[String]] = []
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(prepared)).map { column in
            sqlite3_column_text(prepared, column).map { String(cString: $0) } ?? ""
          })
      case SQLITE_DONE: return rows
      default: throw Self.error(on: connection)
      }
    }
  }

  private static func error(on connection: OpaquePointer) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: String(cString: sqlite3_errmsg(connection)))
  }

  /// Escapes everything but plain path characters: `?`, `#` and `%` have a meaning in URIs, and so have two
  /// slashes at the beginning.
  private static func uri(_ path: String, _ parameters: String) -> String {
    let hexadecimal = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in path.hasPrefix("/") ? ("/" + path.drop { $0 == "/" }).utf8 : path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
      }
    }
    return "file:\(String(decoding: bytes, as: UTF8.self))?\(parameters)"
  }
}

/// What SQLite's progress handler calls.
private final class StatementWatcher {
  let call: () -> Void

  init(_ call: @escaping () -> Void) { self.call = call }
}
