import LosslessJSON

/// Encodes keys or numbers as a JSON array, the form in which a statement takes a list.
enum KeyList {
  /// Encodes keys. SQLite's JSON functions cut a string at its first NUL, so a key that contains
  /// one would match another key's row. Such keys are refused, and with them everything that
  /// references them.
  static func json(_ keys: some Sequence<String>) throws(StorageError) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for key in keys {
      try check(key)
      writer.string(key)
    }
    writer.endArray()
    return writer.bytes
  }

  /// Refuses a key as ``json(_:)`` does, so that it does not matter how a statement takes it.
  static func check(_ key: String) throws(StorageError) {
    guard !key.utf8.contains(0) else {
      throw .failed(code: 0, message: "an entity's key contains a NUL character")
    }
  }

  static func json(numbers: some Sequence<Int64>) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for number in numbers { writer.int(number) }
    writer.endArray()
    return writer.bytes
  }
}
