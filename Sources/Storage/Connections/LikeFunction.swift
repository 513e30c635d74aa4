import GRDBSQLite

/// The `LIKE` operator of a connection, by ``LikePattern``: linear in the text, and it checks the deadline.
///
/// Replaces SQLite's `like()`, which the operator calls. No index use is lost: SQLite's `LIKE` cannot use the
/// index of a column without `NOCASE` either.
enum LikeFunction {
  /// Maximum bytes of a pattern, SQLite's default limit.
  private static let patternBytesMax = 50_000

  /// The pattern of a statement, compiled once for all rows.
  private final class Compiled {
    let pattern: LikePattern
    let escape: UInt32?

    init(_ pattern: LikePattern, escape: UInt32?) {
      self.pattern = pattern
      self.escape = escape
    }
  }

  static func install(on connection: OpaquePointer, _ slot: WatchSlot) {
    for count: Int32 in [2, 3] {
      sqlite3_create_function_v2(
        connection, "like", count, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
        Unmanaged.passRetained(slot).toOpaque(),
        { context, count, values in LikeFunction.run(context, count, values) }, nil, nil,
        { context in
          if let context { Unmanaged<WatchSlot>.fromOpaque(context).release() }
        })
    }
  }

  /// `like(pattern, text)`, `like(pattern, text, escape)`.
  private static func run(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let context, let values, let data = sqlite3_user_data(context) else { return }
    let slot = Unmanaged<WatchSlot>.fromOpaque(data).takeUnretainedValue()
    guard let text = bytes(values[1]), let pattern = bytes(values[0]) else { return }
    var escape: UInt32?
    if count == 3 {
      guard let mark = bytes(values[2]) else { return }
      escape = LikePattern.onlyScalar(of: mark)
      guard escape != nil else {
        return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1)
      }
    }
    guard pattern.count <= patternBytesMax else {
      return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1)
    }
    let compiled = compiled(pattern, escape, context)
    guard slot.mayGoOn,
      let matches = compiled.pattern.matches(text, mayGoOn: { slot.mayGoOn })
    else {
      sqlite3_result_error(context, "interrupted", -1)
      return sqlite3_result_error_code(context, SQLITE_INTERRUPT)
    }
    sqlite3_result_int(context, matches ? 1 : 0)
  }

  /// Returns the compiled pattern, which SQLite keeps while the argument is a constant of the statement.
  private static func compiled(
    _ pattern: UnsafeBufferPointer<UInt8>, _ escape: UInt32?, _ context: OpaquePointer
  ) -> Compiled {
    if let kept = sqlite3_get_auxdata(context, 0) {
      let compiled = Unmanaged<Compiled>.fromOpaque(kept).takeUnretainedValue()
      if compiled.escape == escape { return compiled }
    }
    let compiled = Compiled(LikePattern(pattern, escape: escape), escape: escape)
    // SQLite can release it at once; this call holds its own reference.
    sqlite3_set_auxdata(
      context, 0, Unmanaged.passRetained(compiled).toOpaque(),
      { kept in
        if let kept { Unmanaged<Compiled>.fromOpaque(kept).release() }
      })
    return compiled
  }

  /// The text of a value; nil for NULL.
  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard sqlite3_value_type(value) != SQLITE_NULL, let text = sqlite3_value_text(value) else {
      return nil
    }
    return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
  }
}
