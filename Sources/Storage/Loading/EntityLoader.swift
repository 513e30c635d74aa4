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

  init(_ database: Database, scopes: ViewerScopes, _ touches: TouchLedger) {
    self.database = database
    self.scopes = scopes
    self.touches = touches
  }

  /// Returns the entities by key; keys without any row are absent.
  func load(_ keys: some Sequence<String>, from table: EntityTable) throws -> [ExactText: Loaded] {
    let ids = scopes.ids(of: table)
    let loaded =
      ids.count == 1
      ? try loadPlainly(keys, scope: ids[0], table) : try loadLayers(keys, ids, table)
    let fields = scopes.localFields(of: table)
    return fields.isEmpty ? loaded : try adding(fields, to: loaded, table)
  }

  /// Returns the entities of rows that a query of one scope has found; nil for one without contents. Of types
  /// without local fields that the viewer sees.
  func load(rows: [Int64], from table: EntityTable) throws -> [EntityRecord?] {
    let statement = try PreparedStatement(database, table.readRow, bindsAll: true)
    defer { statement.reset() }
    var records: [EntityRecord?] = []
    records.reserveCapacity(rows.count)
    for row in rows {
      statement.bind(row, at: 1)
      if try statement.step(), let fields = statement.bytes(0) {
        records.append(
          EntityRecord(
            layers: [fields], received: Timestamp(milliseconds: statement.int64(1))))
      } else {
        records.append(nil)
      }
      statement.reset()
    }
    touches.note(type: table.id, rows: rows)
    return records
  }

  /// Adds the local fields that the viewer sees. They make no entity visible that upstream does not know;
  /// one that upstream deleted stays visible.
  private func adding(
    _ fields: [LocalFieldLayer], to loaded: [ExactText: Loaded], _ table: EntityTable
  ) throws -> [ExactText: Loaded] {
    let texts = LocalFieldTexts(fields, keyFields: table.keyFields)
    let own = try ownRows(
      of: loaded.keys.lazy.map(\.text), fields.compactMap(\.scope), texts, table)
    var result = loaded
    for (key, entity) in loaded {
      let record = entity.record
      let own = own[key] ?? []
      let layers: [[UInt8]]
      if !record.isDeleted {
        layers = texts.adding(own, to: record.layers)
      } else if !own.isEmpty, !entity.isDeletedByOverlay {
        layers = texts.kept(own)
      } else {
        continue
      }
      result[key] = Loaded(
        record: EntityRecord(
          layers: layers, isKept: record.isDeleted, received: record.received), due: entity.due)
    }
    return result
  }

  private func ownRows(
    of keys: some Sequence<String>, _ owners: [Int64], _ texts: LocalFieldTexts,
    _ table: EntityTable
  ) throws -> [ExactText: [[UInt8]]] {
    guard !owners.isEmpty else { return [:] }
    let keys = try KeyList.json(keys)
    var rows: [ExactText: [[UInt8]]] = [:]
    for (owner, scope) in owners.enumerated() {
      try LocalFieldRows.rows(of: keys, scope: scope, type: table.id, database) { key, fields in
        rows[ExactText(key), default: []].append(texts.shown(fields, ofOwner: owner))
      }
    }
    return rows
  }

  private func loadPlainly(
    _ keys: some Sequence<String>, scope: Int64, _ table: EntityTable
  ) throws -> [ExactText: Loaded] {
    let statement = try PreparedStatement(database, table.readOneScope)
    statement.bind(scope, at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    let isOverlay = scopes.isOverlay(scope)
    var loaded: [ExactText: Loaded] = [:]
    var touched: [Int64] = []
    while try statement.step() {
      touched.append(statement.int64(4))
      let fields = statement.bytes(2)
      loaded[ExactText(statement.string(0))] = Loaded(
        record: EntityRecord(
          layers: fields.map { [$0] } ?? [], isDeleted: fields == nil,
          received: Timestamp(milliseconds: statement.int64(5))),
        due: statement.int64(1), isDeletedByOverlay: fields == nil && isOverlay)
    }
    statement.reset()
    touches.note(type: table.id, rows: touched)
    return loaded
  }

  private func loadLayers(
    _ keys: some Sequence<String>, _ scopes: [Int64], _ table: EntityTable
  ) throws -> [ExactText: Loaded] {
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
    return rows.mapValues { Self.fold($0, hasOverlays: hasOverlays) }
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
