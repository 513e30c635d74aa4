import GRDB
import LosslessJSON
import Model
import Synchronization

/// Reads entities of one type by key, as a viewer sees them.
struct EntityLoader {
  /// One entity and the call of the last invalidation of its rows.
  struct Loaded {
    let record: EntityRecord
    let due: Int64
    /// Whether the entity is deleted by an optimistic update of the viewer's device.
    var isDeletedByOverlay = false
  }

  private struct Row {
    let due: Int64
    let fields: [UInt8]?
    let layer: Int
    let received: Int64
  }

  private let database: Database
  private let scopes: ViewerScopes
  private let touches: TouchLedger
  private let memory: RowMemory?

  /// - Parameter memory: that of the connection, after it was begun in this transaction.
  init(
    _ database: Database, scopes: ViewerScopes, _ touches: TouchLedger, memory: RowMemory? = nil
  ) {
    self.database = database
    self.scopes = scopes
    self.touches = touches
    self.memory = memory
  }

  /// Returns one entity; nil without any row.
  func load(_ key: String, from table: EntityTable) throws -> Loaded? {
    try load([key], from: table).first ?? nil
  }

  /// A row of one scope that a query has found.
  struct FoundRow {
    let key: String
    let row: Int64
    /// Nil for an entity that upstream deleted, and that the viewer's local fields keep visible.
    let fields: [UInt8]?
    let received: Timestamp
  }

  /// Returns the entities in the order of their keys; nil for a key without any row.
  func load(_ keys: [String], from table: EntityTable) throws -> [Loaded?] {
    let ids = scopes.ids(of: table)
    let loaded =
      ids.count == 1
      ? try loadPlainly(keys, scope: ids[0], table) : try loadLayers(keys, ids, table)
    let fields = scopes.localFields(of: table)
    return fields.isEmpty ? loaded : try adding(fields, to: loaded, keys, table)
  }

  /// Returns the entities of rows that a query of one scope has found; nil for one without contents.
  func load(_ rows: [FoundRow], from table: EntityTable) throws -> [EntityRecord?] {
    touches.note(type: table.id, rows: rows.map(\.row))
    let fields = scopes.localFields(of: table)
    guard !fields.isEmpty else {
      return rows.map { row in
        row.fields.map { EntityRecord(layers: [$0], received: row.received) }
      }
    }
    let texts = LocalFieldTexts(fields, keyFields: table.keyFields)
    let own = try ownRows(of: rows.map(\.key), fields.compactMap(\.scope), texts, table)
    return zip(rows, own).map { row, own in
      if let fields = row.fields {
        return EntityRecord(layers: texts.adding(own, to: [fields]), received: row.received)
      }
      return own.isEmpty
        ? nil
        : EntityRecord(layers: texts.kept(own.map(\.text)), isKept: true, received: row.received)
    }
  }

  /// Adds the local fields that the viewer sees. They make no entity visible that upstream does not know;
  /// one that upstream deleted stays visible.
  private func adding(
    _ fields: [LocalFieldLayer], to loaded: [Loaded?], _ keys: [String], _ table: EntityTable
  ) throws -> [Loaded?] {
    let texts = LocalFieldTexts(fields, keyFields: table.keyFields)
    let own = try ownRows(of: keys, fields.compactMap(\.scope), texts, table)
    return zip(loaded, own).map { entity, own in
      guard let entity else { return nil }
      let record = entity.record
      let layers: [[UInt8]]
      if !record.isDeleted {
        layers = texts.adding(own, to: record.layers)
      } else if !own.isEmpty, !entity.isDeletedByOverlay {
        layers = texts.kept(own.map(\.text))
      } else {
        return entity
      }
      return Loaded(
        record: EntityRecord(
          layers: layers, isKept: record.isDeleted, received: record.received), due: entity.due)
    }
  }

  /// Returns what shows of the owners' rows of each entity.
  private func ownRows(
    of keys: [String], _ owners: [Int64], _ texts: LocalFieldTexts, _ table: EntityTable
  ) throws -> [[LocalFieldTexts.Own]] {
    var rows = [[LocalFieldTexts.Own]](repeating: [], count: keys.count)
    for (owner, scope) in owners.enumerated() {
      let reader = try LocalFieldRows.Reader(scope: scope, type: table.id, database)
      for (index, key) in keys.enumerated() {
        let read = { try reader.text(of: key).map { texts.own($0, ofOwner: owner) } }
        let own =
          try memory.map { try $0.own(of: key, type: table.id, scope: scope, read) } ?? read()
        if let own { rows[index].append(own) }
      }
    }
    return rows
  }

  private func loadPlainly(
    _ keys: [String], scope: Int64, _ table: EntityTable
  ) throws -> [Loaded?] {
    let statement = try PreparedStatement(database, table.readKey)
    defer { statement.reset() }
    statement.bind(scope, at: 1)
    let isOverlay = scopes.isOverlay(scope)
    var loaded: [Loaded?] = []
    loaded.reserveCapacity(keys.count)
    var touched: [Int64] = []
    touched.reserveCapacity(keys.count)
    for key in keys {
      let read = { try Self.row(of: key, by: statement, isOverlay: isOverlay) }
      let row =
        try memory.map { try $0.row(of: key, type: table.id, scope: scope, read) } ?? read()
      if row.loaded != nil { touched.append(row.number) }
      loaded.append(row.loaded)
    }
    touches.note(type: table.id, rows: touched)
    return loaded
  }

  private static func row(
    of key: String, by statement: PreparedStatement, isOverlay: Bool
  ) throws -> RowMemory.Row {
    try KeyList.check(key)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { return RowMemory.Row() }
    let fields = statement.bytes(2)
    return RowMemory.Row(
      number: statement.int64(0),
      loaded: Loaded(
        record: EntityRecord(
          layers: fields.map { [$0] } ?? [], isDeleted: fields == nil,
          received: Timestamp(milliseconds: statement.int64(3))),
        due: statement.int64(1), isDeletedByOverlay: fields == nil && isOverlay))
  }

  private func loadLayers(
    _ keys: [String], _ scopes: [Int64], _ table: EntityTable
  ) throws -> [Loaded?] {
    let statement = try PreparedStatement(database, table.readScopes)
    statement.bind(KeyList.json(numbers: scopes), at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    var rows: [ExactText: [Row]] = [:]
    var touched: [Int64] = []
    while try statement.step() {
      touched.append(statement.int64(4))
      let layer = scopes.firstIndex(of: statement.int64(3)) ?? scopes.count
      rows[ExactText(statement.string(0)), default: []].append(
        Row(
          due: statement.int64(1), fields: statement.bytes(2), layer: layer,
          received: statement.int64(5)))
    }
    statement.reset()
    touches.note(type: table.id, rows: touched)
    let hasOverlays = self.scopes.isOverlay(scopes.first)
    return keys.map { key in
      rows[ExactText(key)].map { Self.fold($0, hasOverlays: hasOverlays) }
    }
  }

  /// Folds the rows of one entity. A tombstone hides the wider scopes' rows.
  ///
  /// - Parameter hasOverlays: whether the first layer is that of optimistic updates.
  private static func fold(_ rows: [Row], hasOverlays: Bool) -> Loaded {
    var layers: [[UInt8]] = []
    var due: Int64 = 0
    var received: Int64?
    for row in rows.sorted(by: { $0.layer < $1.layer }) {
      due = max(due, row.due)
      guard let fields = row.fields else { break }
      layers.append(fields)
      received = min(received ?? row.received, row.received)
    }
    return Loaded(
      record: EntityRecord(
        layers: layers, isDeleted: layers.isEmpty,
        received: received.map { Timestamp(milliseconds: $0) }), due: due,
      isDeletedByOverlay: hasOverlays && rows.contains { $0.layer == 0 && $0.fields == nil })
  }
}

/// The numbers of scopes that readers know. A number is never reused, so an entry stays true.
final class ScopeDirectory: Sendable {
  /// Limit of entries; beyond it the directory starts over.
  private static let entriesMax = 100_000

  private let known = Mutex<[Scope: Int64]>([.public: ScopeTable.publicID])

  /// Returns the number of a scope; nil if nothing was ever written in it.
  func id(of scope: Scope, _ db: Database) throws -> Int64? {
    if let id = known.withLock({ $0[scope] }) { return id }
    guard let id = try ScopeTable.find(scope, db) else { return nil }
    // A provisional read's numbers are rolled back, and used for other scopes later.
    guard db.configuration.readonly else { return id }
    known.withLock { known in
      if known.count >= Self.entriesMax { known = [.public: ScopeTable.publicID] }
      known[scope] = id
    }
    return id
  }
}
