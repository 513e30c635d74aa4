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
  /// Of the last change of its content.
  let revision: Int64

  /// From a row of ``EntityTable/selectExisting``.
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

  /// - Parameter isChanged: the content is another than before, and so is the revision.
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
