import GRDB
import Model

/// A row of an entity table as the writer reads it.
struct StoredRow {
  let rowid: Int64
  let call: Int64
  let barrier: Int64
  let received: Timestamp
  let stamps: [UInt8]?
  /// Nil for a tombstone.
  let fields: [UInt8]?
  /// The revision of the last change of its content.
  let revision: Int64

  /// Reads the current row of ``EntityTable/selectExisting``.
  init(_ statement: PreparedStatement) {
    rowid = statement.int64(1)
    call = statement.int64(2)
    barrier = statement.int64(3)
    received = Timestamp(milliseconds: statement.int64(4))
    stamps = statement.bytes(5)
    fields = statement.bytes(6)
    revision = statement.int64(7)
  }

  static func find(
    _ key: String, scope: Int64, _ table: EntityTable, _ db: Database
  ) throws -> StoredRow? {
    let statement = try PreparedStatement(db, table.selectExisting)
    try statement.bind(KeyList.json(CollectionOfOne(key)), at: 1)
    statement.bind(scope, at: 2)
    defer { statement.reset() }
    return try statement.step() ? StoredRow(statement) : nil
  }

  func state() throws(StorageError) -> RowState {
    guard let fields else { return RowState(barrier: barrier) }
    return try RowState(fields: fields, stamps: stamps, call: call, barrier: barrier)
  }

  /// Updates the row.
  ///
  /// - Parameter isChanged: whether the content differs from before, which takes a new revision.
  func update(
    in table: EntityTable, call: Int64, received: Timestamp, isChanged: Bool, barrier: Int64,
    stamps: [UInt8]?, fields: [UInt8]?, _ context: WriteContext
  ) throws {
    let statement = try PreparedStatement(context.database, table.update)
    statement.bind(rowid, at: 1)
    statement.bind(call, at: 2)
    statement.bind(received.milliseconds, at: 3)
    statement.bind(isChanged ? context.takeRevision() : nil, at: 4)
    statement.bind(barrier, at: 5)
    statement.bind(stamps, at: 6)
    statement.bind(fields, at: 7)
    try statement.run()
    if isChanged { context.memory.noteChanged(RowPlace(type: table.id, row: rowid)) }
  }
}

extension EntityTable {
  /// Empties a row for a moment, until the same command writes it.
  func empty(_ rowid: Int64, _ context: WriteContext) throws {
    let statement = try PreparedStatement(
      context.database,
      "UPDATE \(Self.quoted(name)) SET fields = NULL, revision = ?2 WHERE rowid = ?1")
    statement.bind(rowid, at: 1)
    // The history of entities is recorded here, up to the command's revision.
    statement.bind(context.takeRevision(), at: 2)
    try statement.run()
  }
}

/// A row to insert into an entity table.
struct NewRow {
  let scope: Int64
  let key: String
  let call: Int64
  let received: Timestamp
  var barrier: Int64 = 0
  var due: Int64 = 0
  var stamps: [UInt8]?
  /// Nil for a tombstone.
  let fields: [UInt8]?
  /// Whether it holds local fields of an upstream type.
  var holdsLocalFields = false

  func insert(into table: EntityTable, _ context: WriteContext) throws {
    let statement = try PreparedStatement(context.database, table.insert)
    statement.bind(scope, at: 1)
    statement.bind(key, at: 2)
    statement.bind(call, at: 3)
    statement.bind(received.milliseconds, at: 4)
    statement.bind(context.takeRevision(), at: 5)
    statement.bind(barrier, at: 6)
    statement.bind(due, at: 7)
    statement.bind(stamps, at: 8)
    statement.bind(fields, at: 9)
    try statement.run()
    context.memory.noteInserted(type: table.id, row: context.database.lastInsertedRowID)
    guard scope != ScopeTable.publicID, !holdsLocalFields else { return }
    try PrivateRows.add(key, scope: scope, type: table.id, context.database)
  }
}

/// Turns one entity's row into a tombstone, or inserts one if there was no row: it hides the rows
/// of wider scopes and refuses responses of calls that began before it.
struct EntityDeletion {
  let key: EntityKey
  let scope: Scope
  let id: Int64
  let table: EntityTable
  let call: Int64

  func run(in context: WriteContext, received: Timestamp) throws {
    guard !context.isPurged(key, scope: id, since: call) else { return }
    guard let row = try StoredRow.find(key.key, scope: id, table, context.database) else {
      let row = NewRow(
        scope: id, key: key.key, call: call, received: received, barrier: call, fields: nil)
      try row.insert(into: table, context)
      context.memory.noteRow(of: key.type, in: scope.kind)
      try context.logDeletion(of: key, in: scope, id: id, type: table.id)
      return
    }
    guard call > row.barrier else { return }
    var state = try row.state()
    state.delete(call: call)
    state.settle(horizon: context.horizon)
    let fields = state.isEmpty ? nil : state.encodedFields
    let isChanged = fields != row.fields
    let stamps = state.encodedStamps(writing: row.call, horizon: context.horizon)
    try row.update(
      in: table, call: max(stamps.call, call), received: received, isChanged: isChanged,
      barrier: call, stamps: stamps.stamps, fields: fields, context)
    guard isChanged else { return }
    if fields == nil {
      try context.logDeletion(of: key, in: scope, id: id, type: table.id)
    } else {
      try context.logUpdate(of: key, in: scope, id: id, type: table.id)
    }
  }
}
