/// The identity of an entity inside a scope: its concrete type and the canonical text of its key
/// fields.
///
/// One key field is kept as its own text. Several are kept as a length-prefixed tuple
/// (`2:de4:1990`, lengths in UTF-8 bytes): no separator can make two keys equal. Only ids of local types
/// are read back, see ``fields(of:count:)``.
package struct EntityKey: Hashable, Sendable {
  package let type: String
  package let key: String

  package init(type: String, key: String) {
    self.type = type
    self.key = key
  }

  /// - Parameter fields: the canonical text of each key field in the declared order, at least one.
  package init(type: String, fields: [String]) {
    self.type = type
    if fields.count == 1 {
      key = fields[0]
    } else {
      key = fields.map { "\($0.utf8.count):\($0)" }.joined()
    }
  }
}

extension EntityKey {
  /// Returns the texts of the fields in a composite key; nil if it is not the key of that many.
  package static func fields(of key: String, count: Int) -> [String]? {
    let bytes = Array(key.utf8)
    var fields: [String] = []
    var place = 0
    while place < bytes.count {
      guard fields.count < count, let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")),
        let length = Int(String(decoding: bytes[place..<colon], as: UTF8.self)), length >= 0,
        length < bytes.count - colon
      else { return nil }
      let end = colon + 1 + length
      fields.append(String(decoding: bytes[colon + 1..<end], as: UTF8.self))
      place = end
    }
    // A length in other digits, or one that ends within a character, would be another key.
    guard fields.count == count, EntityKey(type: "", fields: fields).key.equalsExactly(key) else {
      return nil
    }
    return fields
  }
}

/// Keys are compared by their bytes, as the store and upstream do.
extension EntityKey {
  package static func == (left: EntityKey, right: EntityKey) -> Bool {
    left.key.equalsExactly(right.key) && left.type.equalsExactly(right.type)
  }

  package func hash(into hasher: inout Hasher) {
    type.hashExactly(into: &hasher)
    key.hashExactly(into: &hasher)
  }
}

extension EntityKey: CustomStringConvertible {
  /// `Film/9`, for logs and reports only.
  package var description: String { "\(type)/\(key)" }
}
