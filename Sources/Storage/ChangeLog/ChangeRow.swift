/// A row of `change`.
struct ChangeRow {
  let type: Int64
  let key: String
  let created: Int64
  let revision: Int64
  let kind: ChangeKind
  /// When a tombstone was last written over or purged here: what lay under it was hidden before.
  let lifted: Int64

  /// The columns that it is made of, in their order.
  static let columns = "type, key, created, revision, kind, lifted"

  /// From ``columns``, counted from `first`.
  init(_ statement: PreparedStatement, first: Int32 = 0) {
    type = statement.int64(first)
    key = statement.string(first + 1)
    created = statement.int64(first + 2)
    revision = statement.int64(first + 3)
    kind = ChangeKind(rawValue: statement.int64(first + 4)) ?? .present
    lifted = statement.int64(first + 5)
  }

  /// Whoever read the log up to `base` was told that the entity is there.
  func wasPresent(at base: Int64) -> Bool {
    created <= base && (kind != .deleted || revision > base)
  }

  /// Where it stands in the log.
  var place: (Int64, Int64, String) { (revision, type, key) }
}
