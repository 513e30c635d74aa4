import GRDB
import LosslessJSON
import Model

/// Reads entities of one type by their keys, as a viewer sees them.
struct EntityLoader {
  /// One entity with the last invalidation of any row it is made of.
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

  /// Keys without any row are absent from the answer.
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

  /// A tombstone hides what lies under it.
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
