extension JSONValue: CustomStringConvertible {
  /// Compact text, members in their order.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes of `text`.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.reserve(Self.bytesUsual)
    writer.value(self)
    return writer.bytes
  }

  package var description: String { text }

  /// The canonical text, the same for every order of members: names sorted by UTF-8 code units, only the
  /// first of a repeated name, no white space, numbers with their original digits.
  package var canonicalText: String { String(decoding: canonicalBytes, as: UTF8.self) }

  /// The bytes of `canonicalText`.
  package var canonicalBytes: [UInt8] {
    var writer = JSONWriter()
    writer.reserve(Self.bytesUsual)
    writer.canonical(self)
    return writer.bytes
  }

  /// The initial capacity, which suffices for most texts.
  private static let bytesUsual = 256
}

extension JSONWriter {
  fileprivate mutating func canonical(_ value: JSONValue) {
    switch value {
    case .null, .bool, .number, .string: self.value(value)
    case .array(let elements):
      beginArray()
      for element in elements { canonical(element) }
      endArray()
    case .object(let members):
      beginObject()
      var last: String?
      for index in members.indices.sorted(by: { members.precedes($0, $1) }) {
        let member = members[index]
        if let last, last.utf8.elementsEqual(member.name.utf8) { continue }
        last = member.name
        name(member.name)
        canonical(member.value)
      }
      endObject()
    }
  }
}

extension [JSONMember] {
  /// Returns whether one member precedes another: by name, and by position for a repeated name.
  fileprivate func precedes(_ one: Int, _ other: Int) -> Bool {
    let (name, otherName) = (self[one].name.utf8, self[other].name.utf8)
    if name.lexicographicallyPrecedes(otherName) { return true }
    return one < other && name.elementsEqual(otherName)
  }
}
