extension JSONValue: CustomStringConvertible {
  /// Compact text, members in their order.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes of `text`.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }

  package var description: String { text }

  /// One text for every order of members: names sorted by UTF-8 code units, the first of a repeated
  /// name kept, no white space, numbers with the digits they came with.
  package var canonicalText: String {
    var writer = JSONWriter()
    writer.value(sorted)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private var sorted: JSONValue {
    switch self {
    case .null, .bool, .number, .string: return self
    case .array(let elements): return .array(elements.map(\.sorted))
    case .object(let members):
      var seen = Set<String>()
      return .object(
        members.filter { seen.insert($0.name).inserted }
          .map { JSONMember($0.name, $0.value.sorted) }
          .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
    }
  }
}
