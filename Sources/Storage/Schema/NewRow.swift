import GRDB
import Model

/// A row to be inserted into an entity table.
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
    guard scope != ScopeTable.publicID else { return }
    try PrivateRows.add(key, scope: scope, type: table.id, context.database)
  }
}
