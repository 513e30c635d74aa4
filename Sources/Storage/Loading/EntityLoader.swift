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
  }

  private struct Row {
    let due: Int64
    let fields: [UInt8]?
    let layer: Int
    let received: Int64
  }

  private let database: Database
  /// Numbers of the viewer's scopes that exist, narrowest first.
  private let scopes: [Int64]
  private let touches: TouchLedger

  init(_ database: Database, scopes: [Int64], _ touches: TouchLedger) {
    self.database = database
    self.scopes = scopes
    self.touches = touches
  }

  /// Returns the entities by key; keys without any row are absent.
  func load(_ keys: some Sequence<String>, from table: EntityTable) throws -> [ExactText: Loaded] {
    scopes.count == 1
      ? try loadPlainly(keys, scope: scopes[0], table) : try loadLayers(keys, table)
  }

  private func loadPlainly(
    _ keys: some Sequence<String>, scope: Int64, _ table: EntityTable
  ) throws -> [ExactText: Loaded] {
    let statement = try PreparedStatement(database, table.readOneScope)
    statement.bind(scope, at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    var loaded: [ExactText: Loaded] = [:]
    var touched: [Int64] = []
    while try statement.step() {
      touched.append(statement.int64(4))
      let fields = statement.bytes(2)
      loaded[ExactText(statement.string(0))] = Loaded(
        record: EntityRecord(
          layers: fields.map { [$0] } ?? [], isDeleted: fields == nil,
          received: Timestamp(milliseconds: statement.int64(5))),
        due: statement.int64(1))
    }
    statement.reset()
    touches.note(type: table.id, rows: touched)
    return loaded
  }

  private func loadLayers(
    _ keys: some Sequence<String>, _ table: EntityTable
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
    return rows.mapValues(Self.fold)
  }

  /// Folds the rows of one entity. A tombstone hides the wider scopes' rows.
  private static func fold(_ rows: [Row]) -> Loaded {
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
        received: received.map { Timestamp(milliseconds: $0) }), due: due)
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
    known.withLock { known in
      if known.count >= Self.entriesMax { known = [.public: ScopeTable.publicID] }
      known[scope] = id
    }
    return id
  }
}
