import GRDBSQLite
import LosslessJSON
import Model

/// `stored_members(field, fields, …)`: the keys of a to-many relationship as a JSON array, from an entity's
/// rows, narrowest first; `null` if null is stored, and NULL if the field was never fetched.
///
/// `stored_members_of(type, field, fields, …)`: the same, of the members of one type alone.
///
/// The lists of a field with arguments are stored under names that contain these, so no path of SQLite's
/// functions finds them all (``StoredMembers``).
enum MembersFunction {
  static let name = "stored_members"
  static let narrowedName = "stored_members_of"

  static func install(on connection: OpaquePointer, _ slot: WatchSlot) {
    install(name, on: connection, slot) { context, count, values in
      MembersFunction.run(context, count, values, isNarrowed: false)
    }
    install(narrowedName, on: connection, slot) { context, count, values in
      MembersFunction.run(context, count, values, isNarrowed: true)
    }
  }

  private static func install(
    _ name: String, on connection: OpaquePointer, _ slot: WatchSlot,
    _ run:
      @convention(c) (
        OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
      ) -> Void
  ) {
    sqlite3_create_function_v2(
      connection, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passRetained(slot).toOpaque(), run, nil, nil,
      { context in
        if let context { Unmanaged<WatchSlot>.fromOpaque(context).release() }
      })
  }

  /// - Parameter isNarrowed: whether the first value is a type.
  private static func run(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    isNarrowed: Bool
  ) {
    let first = isNarrowed ? 1 : 0
    guard let context, let values, count > first, let data = sqlite3_user_data(context),
      let field = bytes(values[first])
    else { return }
    let type = isNarrowed ? bytes(values[0]).map { String(decoding: $0, as: UTF8.self) } : nil
    guard Unmanaged<WatchSlot>.fromOpaque(data).takeUnretainedValue().mayGoOn else {
      sqlite3_result_error(context, "interrupted", -1)
      return sqlite3_result_error_code(context, SQLITE_INTERRUPT)
    }
    var layers: [JSONNode] = []
    do throws(JSONParseError) {
      for index in (first + 1)..<max(Int(count), first + 1) {
        guard let fields = bytes(values[index]) else { continue }
        layers.append(try JSONDocument(checked: Array(fields)).root)
      }
    } catch {
      return sqlite3_result_error(context, "a stored entity is not valid JSON", -1)
    }
    guard let members = StoredMembers(of: String(decoding: field, as: UTF8.self), in: layers) else {
      return
    }
    var writer = JSONWriter()
    if members.isNull {
      writer.null()
    } else {
      writer.beginArray()
      for key in members.keys where type == nil || key.type == type { writer.string(key.key) }
      writer.endArray()
    }
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    writer.bytes.withUnsafeBufferPointer { text in
      text.withMemoryRebound(to: CChar.self) { characters in
        sqlite3_result_text(context, characters.baseAddress, Int32(characters.count), copies)
      }
    }
  }

  /// The text of a value; nil for NULL.
  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard sqlite3_value_type(value) != SQLITE_NULL, let text = sqlite3_value_text(value) else {
      return nil
    }
    return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
  }
}
