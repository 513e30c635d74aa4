import Model

/// The table of one entity type and the statements on it.
///
/// Own columns come first and `fields` last among the stored ones, so that reading the others
/// never walks a long text's overflow pages. A row without `fields` is a tombstone.
final class EntityTable: Sendable {
  /// The names of our own columns and of SQLite's row number, in lower case: fields of these names
  /// get another column name.
  static let ownColumns: Set<String> = [
    "scope", "key", "call", "received", "revision", "barrier", "due", "stamps", "fields",
    "rowid", "oid", "_rowid_",
  ]

  let id: Int64
  let type: String
  let name: String
  /// Column names by field.
  let columns: [String: String]
  /// Fields whose columns hold integers.
  let integers: Set<String>
  /// The kinds of the columns by field.
  let kinds: [String: EntityType.Column.Kind]
  /// Fields whose columns have an index.
  let indexed: Set<String>
  /// Whether the entities exist in this store only.
  let isLocal: Bool
  /// The local fields of an upstream type, by the kind of their owner.
  let localFields: [LocalFieldSet]
  /// The names of the key's fields.
  let keyFields: [String]
  /// The forms and columns of indexes over texts, see ``TextIndexes``.
  private let textIndexes: Set<String>

  /// Selects the existing rows of keys: ?1 is the keys as a JSON array, ?2 the scope. The first
  /// column is the key's index in the array. CROSS JOIN keeps the planner from scanning the table
  /// for each key.
  let selectExisting: String
  let insert: String
  let update: String
  let replace: String
  let touch: String
  let delete: String
  let markDue: String
  let markManyDue: String
  /// Marks the copies of upstream's data in other scopes; the public one is not among them.
  let markCopiesDue: String
  let readOneScope: String
  let readScopes: String
  /// Selects the row of one key. Cheaper for each of many keys than a list of them, which SQLite sorts first,
  /// and whose rows must be found again by their keys.
  let readKey: String
  /// Selects one of the rows that a scope holds.
  let readAny: String

  init(
    id: Int64, type: String, name: String, columns: [String: String],
    kinds: [String: EntityType.Column.Kind] = [:], indexed: Set<String> = [],
    textIndexes: Set<String> = [], description: EntityType? = nil
  ) {
    isLocal = description?.isLocal ?? false
    localFields = description?.localFields ?? []
    keyFields = description?.keyFields ?? []
    self.indexed = indexed
    self.textIndexes = textIndexes
    self.kinds = kinds
    integers = Set(kinds.lazy.filter { $0.value == .integer }.map(\.key))
    self.id = id
    self.type = type
    self.name = name
    self.columns = columns
    let table = Self.quoted(name)
    selectExisting = """
      SELECT wanted.key, stored.rowid, stored.call, stored.barrier, stored.received, stored.stamps, \
      stored.fields, stored.revision \
      FROM json_each(?1) AS wanted CROSS JOIN \(table) AS stored \
      ON stored.scope = ?2 AND stored.key = wanted.value
      """
    insert = """
      INSERT INTO \(table) (scope, key, call, received, revision, barrier, due, stamps, fields) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    update = """
      UPDATE \(table) SET call = ?2, received = ?3, revision = coalesce(?4, revision), \
      barrier = ?5, stamps = ?6, fields = ?7 WHERE rowid = ?1
      """
    replace = """
      UPDATE \(table) SET call = ?2, received = ?3, revision = ?4, fields = ?5 WHERE rowid = ?1
      """
    touch = "UPDATE \(table) SET call = ?2, received = ?3 WHERE rowid = ?1"
    delete = "DELETE FROM \(table) WHERE rowid = ?1"
    markDue = "UPDATE \(table) SET due = max(due, ?3) WHERE scope = ?1 AND key = ?2"
    markManyDue = """
      UPDATE \(table) SET due = max(due, ?3) WHERE scope = ?1 \
      AND key IN (SELECT value FROM json_each(?2)) RETURNING key
      """
    markCopiesDue = """
      UPDATE \(table) SET due = ?3 WHERE due < ?3 AND rowid IN (\
      SELECT stored.rowid FROM private_row CROSS JOIN scope ON scope.id = private_row.scope \
      CROSS JOIN \(table) AS stored \
      ON stored.scope = private_row.scope AND stored.key = private_row.key \
      WHERE private_row.type = \(id) AND private_row.key IN (SELECT value FROM json_each(?1)) \
      AND scope.kind IN (\(ScopeTable.upstreamKinds)) AND scope.id <> ?2) RETURNING key
      """
    readOneScope = """
      SELECT key, due, fields, scope, rowid, received FROM \(table) \
      WHERE scope = ?1 AND key IN (SELECT value FROM json_each(?2))
      """
    readAny = "SELECT 1 FROM \(table) WHERE scope = ?1 LIMIT 1"
    readKey = "SELECT rowid, due, fields, received FROM \(table) WHERE scope = ?1 AND key = ?2"
    readScopes = """
      SELECT key, due, fields, scope, rowid, received FROM \(table) \
      WHERE scope IN (SELECT value FROM json_each(?1)) \
      AND key IN (SELECT value FROM json_each(?2))
      """
  }

  func hasTextIndex(_ form: ComparedForm, on field: String) -> Bool {
    columns[field].map { textIndexes.contains(TextIndexes.suffix(form, $0)) } ?? false
  }

  /// Whether a field is a local one of an upstream type.
  func hasLocalField(_ name: String) -> Bool { localFields.contains { $0.names(name) } }

  static func quoted(_ name: String) -> String {
    Quotation.quoted(name)
  }
}
