import GRDBSQLite

/// Functions that replace SQLite's built-in ones on the operators' connection.
///
/// SQLite checks the deadline between instructions of its virtual machine, not inside one. Its built-in
/// `instr`, `replace`, `trim` and `LIKE` take time that grows with the product of their arguments' lengths;
/// these take linear time. ``ConsoleRules`` forbids functions that have no linear-time replacement.
enum ConsoleFunctions {
  private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
  /// Bytes of the set of characters that `trim` removes.
  private static let trimmedBytesMax = 100

  static func install(on connection: OpaquePointer, _ slot: WatchSlot) {
    LikeFunction.install(on: connection, slot)
    sqlite3_create_function_v2(
      connection, "instr", 2, flags, nil, { ConsoleFunctions.instr($0, $2) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "replace", 3, flags, nil, { ConsoleFunctions.replace($0, $2) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "trim", 2, flags, nil,
      { ConsoleFunctions.trim($0, $2, atStart: true, atEnd: true) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "ltrim", 2, flags, nil,
      { ConsoleFunctions.trim($0, $2, atStart: true, atEnd: false) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "rtrim", 2, flags, nil,
      { ConsoleFunctions.trim($0, $2, atStart: false, atEnd: true) }, nil, nil, nil)
  }

  private typealias Values = UnsafeMutablePointer<OpaquePointer?>?

  /// Computes the 1-based position of the second argument in the first: in characters, or in bytes if both
  /// are blobs.
  private static func instr(_ context: OpaquePointer?, _ values: Values) {
    guard let values, let text = bytes(values[0]), let part = bytes(values[1]) else { return }
    let search = ByteSearch(part)
    guard let found = search.next(in: text, from: 0) else {
      return sqlite3_result_int(context, 0)
    }
    let isBytes =
      sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB
    let before = UnsafeRawBufferPointer(rebasing: text[..<found])
    let count = isBytes ? before.count : before.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    sqlite3_result_int64(context, Int64(count) + 1)
  }

  private static func replace(_ context: OpaquePointer?, _ values: Values) {
    guard let context, let values, let text = bytes(values[0]), let part = bytes(values[1]),
      let other = bytes(values[2])
    else { return }
    guard !part.isEmpty else { return sqlite3_result_value(context, values[0]) }
    let countMax = Int(
      sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1))
    var result: [UInt8] = []
    var place = 0
    let search = ByteSearch(part)
    while let found = search.next(in: text, from: place) {
      result += text[place..<found]
      result += other
      place = found + part.count
      guard result.count <= countMax else { return sqlite3_result_error_toobig(context) }
    }
    result += text[place...]
    setResult(result[...], to: context)
  }

  private static func trim(
    _ context: OpaquePointer?, _ values: Values, atStart: Bool, atEnd: Bool
  ) {
    guard let context, let values, let text = bytes(values[0]), let characters = bytes(values[1])
    else { return }
    guard characters.count <= trimmedBytesMax else {
      return sqlite3_result_error(
        context, "trim() accepts at most \(trimmedBytesMax) bytes of characters to remove", -1)
    }
    let taken = Set(String(decoding: characters, as: UTF8.self).unicodeScalars)
    var scalars = Substring(String(decoding: text, as: UTF8.self)).unicodeScalars
    if atStart { while let first = scalars.first, taken.contains(first) { scalars.removeFirst() } }
    if atEnd { while let last = scalars.last, taken.contains(last) { scalars.removeLast() } }
    setResult(Array(Substring(scalars).utf8)[...], to: context)
  }

  private static func setResult(_ text: ArraySlice<UInt8>, to context: OpaquePointer) {
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // A null pointer would give NULL; an empty text must remain a text.
    guard !text.isEmpty else { return sqlite3_result_text(context, "", 0, copies) }
    text.withUnsafeBytes { bytes in
      let characters = bytes.bindMemory(to: CChar.self)
      sqlite3_result_text(context, characters.baseAddress, Int32(bytes.count), copies)
    }
  }

  /// The bytes of a value; nil for NULL.
  private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: return nil
    case SQLITE_BLOB:
      let blob = sqlite3_value_blob(value)
      return UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_value_bytes(value)))
    default:
      let text = sqlite3_value_text(value)
      return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
    }
  }
}

/// A substring search on bytes in one pass (Knuth, Morris and Pratt, 1977).
struct ByteSearch {
  private let part: UnsafeRawBufferPointer
  /// The failure function: for each number of matched bytes, how many still match after a mismatch.
  private let fallbacks: [Int]

  /// - Parameter part: the bytes to find; they must outlive the search.
  init(_ part: UnsafeRawBufferPointer) {
    self.part = part
    var fallbacks = [Int](repeating: 0, count: part.count + 1)
    var length = 0
    for index in part.indices.dropFirst() {
      while length > 0, part[index] != part[length] { length = fallbacks[length] }
      if part[index] == part[length] { length += 1 }
      fallbacks[index + 1] = length
    }
    self.fallbacks = fallbacks
  }

  /// Returns the index of the first occurrence at or after `start`; an empty part occurs everywhere.
  func next(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard !part.isEmpty else { return start }
    var length = 0
    for index in start..<text.count {
      while length > 0, text[index] != part[length] { length = fallbacks[length] }
      if text[index] == part[length] { length += 1 }
      if length == part.count { return index + 1 - length }
    }
    return nil
  }
}
