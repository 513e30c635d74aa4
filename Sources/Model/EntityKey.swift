/// The identity of an entity inside a scope: its concrete type and the canonical text of its key
/// fields.
///
/// One key field is kept as its own text. Several are kept as a length-prefixed tuple
/// (`2:de4:1990`, lengths in UTF-8 bytes), which is never parsed again: no separator can make two
/// keys equal.
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
