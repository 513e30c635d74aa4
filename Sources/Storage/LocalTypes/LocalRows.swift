import Filtering
import GRDB
import LosslessJSON
import Model

/// A cache of the local rows that one list of writes accesses; each is read once and written once.
///
/// The local fields of an upstream type are rows of its parts (``Model/LocalSchema/rowType(named:)``): the
/// key of such a row names the part, `Film@device`. These rows always exist, possibly without any field.
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
  /// The scopes of the upstream entities that the writer sees.
  private let viewer: Viewer
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
  /// The changed rows that the present ``flush()`` has not written yet.
  private var unwritten: Set<EntityKey> = []
  private var violations: [UniqueViolation] = []
  /// By type.
  private var rules: [String: [LocalUniqueRule]] = [:]
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

  /// - Parameter watched: the types whose entities ``changes()`` returns, upstream's for their local fields.
  init(
    _ context: WriteContext, schema: LocalSchema, owner: LocalOwner, now: Timestamp,
    recheck: FilterRecheck, viewer: Viewer = .anonymous, watched: Set<String> = [],
    checkQuota: @escaping () throws -> Void = {}
  ) {
    self.viewer = viewer
    self.watched = watched
    self.recheck = recheck
    self.checkQuota = checkQuota
    self.context = context
    self.schema = schema
    self.owner = owner
    self.now = now
  }

  func scope(of type: String) throws -> Scope {
    guard let row = schema.rowType(named: type), let scope = owner.scope(row.scope) else {
      throw StorageError.failed(
        code: 0, message: "a write to the local type \(type) has no device or user")
    }
    guard row.extended != nil, scope.kind == .device else { return scope }
    return .localFields(ofDevice: scope.subject)
  }

  /// Returns the entity of a row.
  func entity(_ key: EntityKey) -> EntityKey {
    guard let type = schema.rowType(named: key.type)?.extended else { return key }
    return EntityKey(type: type, key: key.key)
  }

  /// Returns the row of an entity that a local row refers to: that of the part with the same owner, if the
  /// entity is upstream's.
  func row(of target: EntityKey, beside key: EntityKey) -> EntityKey {
    guard let owner = schema.rowType(named: key.type)?.scope,
      let part = schema.part(of: target.type, owner: owner)
    else { return target }
    return EntityKey(type: part.name, key: target.key)
  }

  private func table(of key: EntityKey) throws -> EntityTable {
    try context.table(of: entity(key).type)
  }

  func fields(of key: EntityKey) throws -> Fields? {
    if let row = rows[key] { return row.fields }
    let scope = try context.memory.scopeID(scope(of: key.type), context.database)
    let stored = try StoredRow.find(
      key.key, scope: scope, table(of: key), context.database)
    var fields: Fields?
    if let bytes = stored?.fields {
      fields = try LocalRowText.fields(bytes)
    } else if schema.types[key.type] == nil {
      fields = [:]
    }
    rows[key] = Row(stored: stored, fields: fields)
    return fields
  }

  /// - Parameter fields: nil deletes the entity.
  func set(_ key: EntityKey, _ fields: Fields?) throws {
    try recheck.checkTime()
    _ = try self.fields(of: key)
    if !watched.isEmpty, watched.contains(entity(key).type) {
      let before = origins[key].map(\.before) ?? rows[key]?.stored?.fields
      origins[key] = Origin(before: before, place: place)
    }
    rows[key]?.fields = fields
    changed.append(key)
    touched.insert(key)
  }

  /// Returns what the list has changed so far in entities of watched types, in the order of its
  /// operations. Local fields of one upstream entity are a change for each kind of owner.
  func changes() throws -> [LocalChange] {
    let ordered = origins.sorted {
      ($0.value.place, $0.key.type, $0.key.key) < ($1.value.place, $1.key.type, $1.key.key)
    }
    var changes: [LocalChange] = []
    for (key, origin) in ordered {
      guard let type = schema.rowType(named: key.type), let owner = owner.scope(type.scope) else {
        continue
      }
      let after = try fields(of: key)
      var states = (before: origin.before, after: after.map { LocalRowText.bytes($0, of: type) })
      if type.extended != nil {
        let name = try LocalRowText.key(key.key, table(of: key))
        states.before = LocalRowText.whole(
          try origin.before.map { try LocalRowText.fields($0) } ?? [:], of: type, keyedBy: name)
        states.after = LocalRowText.whole(after ?? [:], of: type, keyedBy: name)
      }
      let change = LocalChange(
        key: entity(key), before: states.before, after: states.after, owner: owner,
        place: origin.place)
      if let change { changes.append(change) }
    }
    return changes
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

  /// Returns the keys of the upstream entities in the database that the writer sees and that match a filter:
  /// flush first.
  func visibleKeys(
    of type: EntityType, matching filter: Filter, place: Int, pointer: String
  ) throws -> [String] {
    try recheck.visibleKeys(of: place, type, filter, pointer: pointer)
  }

  /// Returns the current state of an entity.
  func record(of key: EntityKey) throws -> EntityRecord? {
    guard let fields = try fields(of: key), let type = schema.types[key.type] else { return nil }
    return EntityRecord(layers: [LocalRowText.bytes(fields, of: type)])
  }

  /// Returns an upstream entity as the writer sees it in the database; nil if it does not.
  func visible(_ key: EntityKey) throws -> EntityRecord? {
    let scopes = try ViewerScopes(viewer, context.catalogue) {
      try context.memory.existingScopeID($0, context.database)
    }
    let loader = EntityLoader(context.database, scopes: scopes, context.memory.touches)
    let record = try loader.load(key.key, from: context.table(of: key.type))?.record
    return record.flatMap { $0.isDeleted ? nil : $0 }
  }

  // MARK: Writing

  /// Writes changed rows to the database and clears the cache, so that queries and later writes start from
  /// the database.
  ///
  /// - Throws: ``WriteRefusal/notUnique(_:)`` with all rows that break a rule of their type.
  func flush() throws {
    unwritten = Set(changed)
    violations = []
    for key in changed where unwritten.remove(key) != nil {
      guard let row = rows[key], let type = schema.rowType(named: key.type) else { continue }
      guard type.extended == nil else {
        try writeFields(row.fields ?? [:], key, of: type, over: row.stored)
        continue
      }
      let fields = row.fields.map { LocalRowText.bytes($0, of: type) }
      guard fields != row.stored?.fields else { continue }
      guard try fields.map({ try isUnique($0, key, type) }) ?? true else { continue }
      try write(fields, key, over: row.stored)
    }
    guard violations.isEmpty else { throw WriteRefusal.notUnique(violations) }
    rows = [:]
    changed = []
  }

  /// Returns whether a row can be written beside the others of its owner, and notes a violation otherwise.
  private func isUnique(_ fields: [UInt8], _ key: EntityKey, _ type: LocalType) throws -> Bool {
    guard !type.uniques.isEmpty else { return true }
    let table = try context.table(of: type.name)
    let scope = try context.memory.scopeID(scope(of: type.name), context.database)
    var isFree = true
    let known = rules[type.name] ?? LocalUniqueIndexes.rules(of: type, in: table)
    rules[type.name] = known
    for rule in known {
      while let id = try rule.holder(of: fields, key: key.key, scope: scope, context.database) {
        let holder = EntityKey(type: type.name, key: id)
        if try yields(holder, to: key, rule, table) { continue }
        isFree = false
        if violations.count < Failure.Detail.countMax {
          violations.append(UniqueViolation(key: key, fields: rule.fields, holder: holder))
        }
        break
      }
    }
    return isFree
  }

  /// Empties a row that gives up its values later in the same flush, so that rows can exchange theirs.
  ///
  /// - Returns: false if it keeps them.
  private func yields(
    _ holder: EntityKey, to key: EntityKey, _ rule: LocalUniqueRule, _ table: EntityTable
  ) throws -> Bool {
    guard unwritten.contains(holder), let row = rows[holder], let stored = row.stored,
      let type = schema.types[holder.type],
      row.fields.map({ LocalRowText.bytes($0, of: type) }) != stored.fields
    else { return false }
    let keeps = rule.fields.allSatisfy { row.fields?[$0] == rows[key]?.fields?[$0] }
    guard row.fields == nil || !keeps else { return false }
    try table.empty(stored.rowid, context)
    return true
  }

  private func writeFields(
    _ fields: Fields, _ key: EntityKey, of type: LocalType, over stored: StoredRow?
  ) throws {
    guard stored != nil || !fields.isEmpty else { return }
    let table = try table(of: key)
    let bytes = LocalRowText.bytes(fields, of: type, keyedBy: LocalRowText.key(key.key, table))
    guard bytes != stored?.fields else { return }
    try write(bytes, key, over: stored)
    try LocalFieldRows.set(
      key.key, scope: context.memory.scopeID(scope(of: key.type), context.database),
      type: table.id, fields: bytes, context.database)
    context.memory.noteLocalFields(of: table.id)
  }

  private func write(_ fields: [UInt8]?, _ key: EntityKey, over stored: StoredRow?) throws {
    try recheck.checkTime()
    // Checked during the writes, not only at the end: a few bytes of request can write many rows.
    unchecked += fields?.count ?? 0
    if unchecked > Self.uncheckedMax {
      unchecked = 0
      try checkQuota()
    }
    let table = try table(of: key)
    let scope = try scope(of: key.type)
    let holdsLocalFields = schema.types[key.type] == nil
    let key = entity(key)
    let id = try context.memory.scopeID(scope, context.database)
    if let stored {
      try stored.update(
        in: table, call: context.call, received: now, isChanged: true,
        barrier: fields == nil ? context.call : stored.barrier, stamps: nil, fields: fields,
        context)
    } else {
      let row = NewRow(
        scope: id, key: key.key, call: context.call, received: now, fields: fields,
        holdsLocalFields: holdsLocalFields)
      try row.insert(into: table, context)
      if !holdsLocalFields { context.memory.noteRow(of: key.type, in: scope.kind) }
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

/// The stored JSON of a row of a local type: all fields of its type in declared order, then values of removed fields in
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

  /// Returns the text of a row of local fields: the key's field, since nothing else of the entity is known once
  /// upstream has deleted it, and the fields that were written.
  static func bytes(
    _ fields: [String: JSONValue], of part: LocalType, keyedBy key: JSONMember?
  ) -> [UInt8] {
    let declared = part.fields.map(\.name)
    let others = fields.keys.filter { !declared.contains($0) && $0 != key?.name }.sorted()
    let members = (declared + others).compactMap { name in
      fields[name].map { JSONMember(name, $0) }
    }
    return JSONValue.object((key.map { [$0] } ?? []) + members).bytes
  }

  /// Returns the text of all local fields that one owner has of an entity, with the values of those that were
  /// not written, and with the key's field.
  static func whole(
    _ fields: [String: JSONValue], of part: LocalType, keyedBy key: JSONMember?
  ) -> [UInt8] {
    let members = part.fields.map { JSONMember($0.name, fields[$0.name] ?? $0.emptyValue) }
    return JSONValue.object((key.map { [$0] } ?? []) + members).bytes
  }

  /// Returns the key's field with its value; nil for a key of several fields, which is never split.
  static func key(_ key: String, _ table: EntityTable) -> JSONMember? {
    guard table.keyFields.count == 1, let name = table.keyFields.first else { return nil }
    if table.integers.contains(name), let number = Int64(key) {
      return JSONMember(name, .number(JSONNumber(number)))
    }
    return JSONMember(name, .string(key))
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
