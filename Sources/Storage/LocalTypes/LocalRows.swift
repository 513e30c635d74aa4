import Filtering
import GRDB
import LosslessJSON
import Model

/// A cache of the local rows that one list of writes accesses; each is read once and written once.
///
/// Nothing is written to the database before ``flush()``. Upstream responses never touch these rows, so they
/// have no stamps and the order rule does not apply to them.
final class LocalRows {
  typealias Fields = [String: JSONValue]

  private struct Row {
    let stored: StoredRow?
    /// Nil if the entity does not exist.
    var fields: Fields?
  }

  let context: WriteContext
  let schema: LocalSchema
  private let owner: LocalOwner
  private let now: Timestamp
  private let recheck: FilterRecheck
  /// Throws if the owner exceeds its quota.
  private let checkQuota: () throws -> Void
  /// Bytes written since the last check of the quota.
  private var unchecked = 0
  private static let uncheckedMax = 1 << 20
  private var rows: [EntityKey: Row] = [:]
  /// Keys in the order of change, with repeats.
  private var changed: [EntityKey] = []
  /// All entities changed by this list, flushed or not.
  private(set) var touched: Set<EntityKey> = []
  /// The types whose changes hooks are called for.
  private let watched: Set<String>
  /// Of each touched entity of a watched type.
  private var origins: [EntityKey: Origin] = [:]
  /// The index of the operation that is performed.
  var place = 0

  private struct Origin {
    /// The stored text before the list; nil if the entity did not exist.
    let before: [UInt8]?
    /// The index of the last operation that changed it.
    var place: Int
  }

  /// - Parameter watched: the types whose entities ``changes()`` returns.
  init(
    _ context: WriteContext, schema: LocalSchema, owner: LocalOwner, now: Timestamp,
    recheck: FilterRecheck, watched: Set<String> = [],
    checkQuota: @escaping () throws -> Void = {}
  ) {
    self.watched = watched
    self.recheck = recheck
    self.checkQuota = checkQuota
    self.context = context
    self.schema = schema
    self.owner = owner
    self.now = now
  }

  func scope(of type: String) throws -> Scope {
    guard let kind = schema.types[type]?.scope, let scope = owner.scope(kind) else {
      throw StorageError.failed(
        code: 0, message: "a write to the local type \(type) has no device or user")
    }
    return scope
  }

  func fields(of key: EntityKey) throws -> Fields? {
    if let row = rows[key] { return row.fields }
    let scope = try context.memory.scopeID(scope(of: key.type), context.database)
    let stored = try StoredRow.find(
      key.key, scope: scope, context.table(of: key.type), context.database)
    var fields: Fields?
    if let bytes = stored?.fields {
      fields = try LocalRowText.fields(bytes)
    }
    rows[key] = Row(stored: stored, fields: fields)
    return fields
  }

  /// - Parameter fields: nil deletes the entity.
  func set(_ key: EntityKey, _ fields: Fields?) throws {
    try recheck.checkTime()
    _ = try self.fields(of: key)
    if watched.contains(key.type) {
      let before = origins[key].map(\.before) ?? rows[key]?.stored?.fields
      origins[key] = Origin(before: before, place: place)
    }
    rows[key]?.fields = fields
    changed.append(key)
    touched.insert(key)
  }

  /// Returns what the list has changed so far in entities of watched types, in the order of its
  /// operations.
  func changes() throws -> [LocalChange] {
    var changes: [LocalChange] = []
    for (key, origin) in origins {
      guard let type = schema.types[key.type] else { continue }
      let change = LocalChange(
        key: key, before: origin.before,
        after: try fields(of: key).map { LocalRowText.bytes($0, of: type) },
        owner: try scope(of: key.type), place: origin.place)
      if let change { changes.append(change) }
    }
    return changes.sorted {
      ($0.place, $0.key.type, $0.key.key) < ($1.place, $1.key.type, $1.key.key)
    }
  }

  /// Returns the keys of the entities in the database that match a filter: flush first.
  ///
  /// - Parameter place: the index of the write in its list.
  func keys(
    of type: LocalType, matching filter: Filter, place: Int, pointer: String
  ) throws -> [String] {
    let scope = try context.memory.scopeID(scope(of: type.name), context.database)
    return try recheck.keys(
      of: place, type.entityType, filter, scope: scope, canBeEvicted: false, pointer: pointer)
  }

  /// Returns the current state of an entity.
  func record(of key: EntityKey) throws -> EntityRecord? {
    guard let fields = try fields(of: key), let type = schema.types[key.type] else { return nil }
    return EntityRecord(layers: [LocalRowText.bytes(fields, of: type)])
  }

  // MARK: Writing

  /// Writes changed rows to the database and clears the cache, so that queries and later writes start from
  /// the database.
  func flush() throws {
    var written: Set<EntityKey> = []
    for key in changed where written.insert(key).inserted {
      guard let row = rows[key], let type = schema.types[key.type] else { continue }
      try write(row.fields.map { LocalRowText.bytes($0, of: type) }, key, over: row.stored)
    }
    rows = [:]
    changed = []
  }

  private func write(_ fields: [UInt8]?, _ key: EntityKey, over stored: StoredRow?) throws {
    guard fields != stored?.fields else { return }
    try recheck.checkTime()
    // Checked during the writes, not only at the end: a few bytes of request can write many rows.
    unchecked += fields?.count ?? 0
    if unchecked > Self.uncheckedMax {
      unchecked = 0
      try checkQuota()
    }
    let table = try context.table(of: key.type)
    let scope = try scope(of: key.type)
    let id = try context.memory.scopeID(scope, context.database)
    if let stored {
      try stored.update(
        in: table, call: context.call, received: now, isChanged: true,
        barrier: fields == nil ? context.call : stored.barrier, stamps: nil, fields: fields,
        context)
    } else {
      let row = NewRow(scope: id, key: key.key, call: context.call, received: now, fields: fields)
      try row.insert(into: table, context)
      context.memory.noteRow(of: key.type, in: scope.kind)
    }
    if fields == nil {
      try context.logDeletion(of: key, in: scope, id: id, type: table.id)
    } else if stored?.fields == nil {
      try context.logCreation(
        of: key, in: scope, id: id, type: table.id, lifts: stored != nil)
    } else {
      try context.logUpdate(of: key, in: scope, id: id, type: table.id)
    }
  }
}

/// The stored JSON of a local row: all fields of its type in declared order, then values of removed fields in
/// alphabetical order. The same content always gives the same text.
enum LocalRowText {
  static func bytes(_ fields: [String: JSONValue], of type: LocalType) -> [UInt8] {
    let declared = Set(type.fields.map(\.name))
    var writer = JSONWriter()
    writer.beginObject()
    for field in type.fields {
      writer.name(field.name)
      writer.value(fields[field.name] ?? field.emptyValue)
    }
    for name in fields.keys.filter({ !declared.contains($0) }).sorted() {
      guard let value = fields[name] else { continue }
      writer.name(name)
      writer.value(value)
    }
    writer.endObject()
    return writer.bytes
  }

  static func fields(_ bytes: [UInt8]) throws(StorageError) -> [String: JSONValue] {
    do throws(JSONParseError) {
      let members = try JSONValue(checked: bytes).members ?? []
      return Dictionary(
        members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    } catch {
      throw .corrupt("a stored row is not JSON: \(error)")
    }
  }
}
