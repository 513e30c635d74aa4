import Filtering
import GRDBSQLite
import Model

/// The functions of filters on texts: folded and small forms, `CONTAINS` and `ENDSWITH`.
///
/// Each is linear in its arguments and checks the deadline as it goes, like ``LikeFunction``. The forms are in
/// indexes too, so every connection that writes or copies a database must have them.
enum TextFunctions {
  static let contains = "text_contains"
  static let endsWith = "text_ends"

  /// Bytes of text between two checks of the deadline.
  private static let bytesBetweenLooks = 16 * 1024

  static func install(on connection: OpaquePointer, _ slot: WatchSlot) {
    for form in ComparedForm.allCases {
      switch form {
      case .withoutCase:
        add(form.rawValue, connection, slot) { context, _, values in
          TextFunctions.fold(context, values, .ignoringCase)
        }
      case .withoutMarks:
        add(form.rawValue, connection, slot) { context, _, values in
          TextFunctions.fold(context, values, .ignoringMarks)
        }
      case .lower:
        add(form.rawValue, connection, slot) { context, _, values in
          TextFunctions.fold(context, values, nil)
        }
      }
    }
    add(contains, connection, slot) { context, _, values in
      TextFunctions.search(context, values)
    }
    add(endsWith, connection, slot) { context, _, values in
      TextFunctions.compareEnd(context, values)
    }
  }

  private static func add(
    _ name: String, _ connection: OpaquePointer, _ slot: WatchSlot,
    _ function:
      @escaping @convention(c) (
        OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
      ) -> Void
  ) {
    sqlite3_create_function_v2(
      connection, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passRetained(slot).toOpaque(), function, nil, nil,
      { context in
        if let context { Unmanaged<WatchSlot>.fromOpaque(context).release() }
      })
  }

  // MARK: Forms

  /// - Parameter folding: nil for small letters.
  private static func fold(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ folding: TextFolding?
  ) {
    guard let context, let values, let slot = slot(of: context), let bytes = bytes(values[0])
    else { return }
    var form = String.UnicodeScalarView()
    var left = bytesBetweenLooks
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if let folding {
        folding.append(scalar, to: &form)
      } else {
        form.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
      }
      left -= 1
      guard left <= 0 else { continue }
      guard slot.mayGoOn else { return interrupt(context) }
      left = bytesBetweenLooks
    }
    var text = String(form)
    text.withUTF8 { result in
      let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      result.withMemoryRebound(to: CChar.self) { characters in
        // A null pointer would be NULL; an empty text is still a text.
        if let base = characters.baseAddress {
          sqlite3_result_text(context, base, Int32(characters.count), copies)
        } else {
          sqlite3_result_text(context, "", 0, copies)
        }
      }
    }
  }

  // MARK: Matches

  /// `text_contains(part, text)`, by the algorithm of Knuth, Morris and Pratt (1977). Bytes can be compared
  /// instead of characters: in UTF-8 no character begins inside another one.
  private static func search(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let context, let values, let slot = slot(of: context), let part = bytes(values[0]),
      let text = bytes(values[1])
    else { return }
    let borders = borders(of: part, context)
    var matched = 0
    var look = bytesBetweenLooks
    for (index, byte) in text.enumerated() {
      if matched == part.count { break }
      while matched > 0, part[matched] != byte { matched = borders[matched - 1] }
      if part[matched] == byte { matched += 1 }
      guard index >= look else { continue }
      guard slot.mayGoOn else { return interrupt(context) }
      look = index + bytesBetweenLooks
    }
    sqlite3_result_int(context, matched == part.count ? 1 : 0)
  }

  /// `text_ends(part, text)`.
  private static func compareEnd(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let context, let values, let part = bytes(values[0]), let text = bytes(values[1]) else {
      return
    }
    let ends = text.count >= part.count && text.suffix(part.count).elementsEqual(part)
    sqlite3_result_int(context, ends ? 1 : 0)
  }

  /// The lengths of the longest proper borders of a text's prefixes, computed once for all rows.
  private final class Borders {
    let lengths: [Int]

    init(of part: UnsafeBufferPointer<UInt8>) {
      var lengths = [Int](repeating: 0, count: part.count)
      var length = 0
      for index in part.indices.dropFirst() {
        while length > 0, part[length] != part[index] { length = lengths[length - 1] }
        if part[length] == part[index] { length += 1 }
        lengths[index] = length
      }
      self.lengths = lengths
    }
  }

  /// SQLite keeps them while the argument is a constant of the statement.
  private static func borders(
    of part: UnsafeBufferPointer<UInt8>, _ context: OpaquePointer
  ) -> [Int] {
    if let kept = sqlite3_get_auxdata(context, 0) {
      return Unmanaged<Borders>.fromOpaque(kept).takeUnretainedValue().lengths
    }
    let borders = Borders(of: part)
    sqlite3_set_auxdata(
      context, 0, Unmanaged.passRetained(borders).toOpaque(),
      { kept in
        if let kept { Unmanaged<Borders>.fromOpaque(kept).release() }
      })
    return borders.lengths
  }

  // MARK: Arguments and results

  private static func slot(of context: OpaquePointer) -> WatchSlot? {
    sqlite3_user_data(context).map { Unmanaged<WatchSlot>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The text of a value; nil for NULL.
  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard sqlite3_value_type(value) != SQLITE_NULL, let text = sqlite3_value_text(value) else {
      return nil
    }
    return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
  }

  private static func interrupt(_ context: OpaquePointer) {
    sqlite3_result_error(context, "interrupted", -1)
    sqlite3_result_error_code(context, SQLITE_INTERRUPT)
  }
}

/// The form of a text that is compared or indexed.
enum ComparedForm: String, CaseIterable {
  case withoutCase = "fold_case"
  case withoutMarks = "fold_marks"
  case lower = "lower_case"

  /// Nil if texts are compared as they are.
  init?(_ folding: TextFolding) {
    switch folding {
    case .none: return nil
    case .ignoringCase: self = .withoutCase
    case .ignoringMarks: self = .withoutMarks
    }
  }

  init(_ form: EntityType.TextIndex.Form) {
    switch form {
    case .withoutCase: self = .withoutCase
    case .withoutMarks: self = .withoutMarks
    case .lower: self = .lower
    }
  }

  /// Returns the SQL for the form of a text. The version of Unicode is part of it: an index is used for the
  /// same expression only, and is made again under another version.
  func sql(_ text: String) -> String { "\(rawValue)(\(text), \(TextFolding.version))" }
}
