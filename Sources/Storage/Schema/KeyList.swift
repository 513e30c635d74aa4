import LosslessJSON

/// Keys or numbers as a JSON array, the form in which a statement takes a list.
enum KeyList {
  static func json(_ keys: some Sequence<String>) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for key in keys { writer.string(key) }
    writer.endArray()
    return writer.bytes
  }

  static func json(numbers: some Sequence<Int64>) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for number in numbers { writer.int(number) }
    writer.endArray()
    return writer.bytes
  }
}
