import GRDB
import LosslessJSON
import Model

/// The rows of local types that one list of writes looks at, each read once and written once.
///
/// Nothing is in the database before ``flush()``. No answer of upstream's ever touches these rows,
/// so they carry no stamps and the order rule does not concern them.
final class LocalRows {
  typealias Fields = [String: JSONValue]

  private struct Row {
    let stored: StoredRow?
    /// Nil where there is no entity.
    var fields: Fields?
  }

  let context: WriteContext
  let schema: LocalSchema
  private let owner: LocalOwner
  private let now: Timestamp
  private let recheck: FilterRecheck
  /// Throws where the owner has stored more than it may.
  private let checkQuota: () throws -> Void
  /// Bytes written since the quota was looked at.
  private var unchecked = 0
  private static let uncheckedMax = 1 << 20
  private var rows: [EntityKey: Row] = [:]
  /// In the order of change, repeats included.
  private var changed: [EntityKey] = []
  /// Everything that was changed by this list, whether written yet or not.
  private(set) var touched: Set<EntityKey> = []

  init(
    _ context: WriteContext, schema: LocalSchema, owner: LocalOwner, now: Timestamp,
    recheck: FilterRecheck, checkQuota: @escaping () throws -> Void = {}
  ) {
    self.recheck = recheck
    self.checkQuota = checkQuota
    self.context = context
    self.schema = schema
    self.owner = owner
    self.now = now
  }

  func scope(of type: String) throws -> Scope {
    guard let kind = schema.types[type]?.scope, let scope = owner.scope(kind) else {
      throw StorageError.failed(code: 0, message: "a local write without its scope")
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
    rows[key]?.fields = fields
    changed.append(key)
    touched.insert(key)
  }

  /// Keys of the entities that a filter holds of, as the database has them: flush first.
  ///
  /// - Parameter place: of the write in its list.
  func keys(
    of type: LocalType, matching filter: Filter, place: Int, pointer: String
  ) throws -> [String] {
    let scope = try context.memory.scopeID(scope(of: type.name), context.database)
    return try recheck.keys(
      of: place, type.entityType, filter, scope: scope, mayVanish: false, pointer: pointer)
  }

  /// As it stands, for whoever judges it.
  func record(of key: EntityKey) throws -> EntityRecord? {
    guard let fields = try fields(of: key), let type = schema.types[key.type] else { return nil }
    return EntityRecord(layers: [LocalRowText.bytes(fields, of: type)])
  }

  // MARK: Writing

  /// Writes what differs from what is stored, and forgets all, so that queries and later writes
  /// start from the database.
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
    // While it is written, not only in the end: a list can say with few bytes that many are written.
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
