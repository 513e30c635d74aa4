import GRDB
import Model

/// Deletes everything that is stored for one device, which stays registered.
///
/// Unlike the removal of a device (``DeviceData``), each deletion enters the change log: the device
/// goes on reading with the cursor it has. Former states of its rows go with the history of their types.
struct DeviceReset {
  let context: WriteContext
  let device: String
  let now: Timestamp
  private var database: Database { context.database }

  /// - Returns: the numbers of the types that lost rows.
  func perform() throws -> Set<Int64> {
    var emptied = try dropOverlays()
    for scope in try DeviceData(database: database).scopes(of: device) {
      emptied.formUnion(try empty(scope))
    }
    for table in QueueSchema.tables {
      let statement = try PreparedStatement(database, "DELETE FROM \(table) WHERE device = ?1")
      statement.bind(device, at: 1)
      try statement.run()
    }
    try LocalWriteKeys(database: database).removeAll(of: device)
    context.memory.queues.forget(device)
    context.noteQueue(of: device)
    return emptied
  }

  /// Reverts all optimistic updates, and returns their types.
  private func dropOverlays() throws -> Set<Int64> {
    let statement = try PreparedStatement(
      database, "SELECT DISTINCT type, key FROM overlay WHERE device = ?1")
    statement.bind(device, at: 1)
    var keys: [EntityKey] = []
    while try statement.step() {
      keys.append(EntityKey(type: statement.string(0), key: statement.string(1)))
    }
    statement.reset()
    let deletion = try PreparedStatement(database, "DELETE FROM overlay WHERE device = ?1")
    deletion.bind(device, at: 1)
    try deletion.run()
    let overlays = OverlayRows(context, device: device, now: now)
    for key in keys { try overlays.fold(key) }
    return Set(keys.compactMap { context.catalogue[$0.type]?.id })
  }

  /// Deletes all rows of a scope: own data, and the outcomes of mutations. Returns the types that had some.
  private func empty(_ id: Int64) throws -> Set<Int64> {
    guard let scope = try ScopeTable.scope(id, database) else { return [] }
    var emptied: Set<Int64> = []
    let types = try Row.fetchAll(database, sql: "SELECT id, name, table_name FROM entity_type")
    for type in types {
      try empty(
        type["id"], name: type["name"], table: EntityTable.quoted(type["table_name"]), of: scope,
        id)
      // Of the deletion, which comes last.
      if database.changesCount > 0 { emptied.insert(type["id"]) }
    }
    for table in ["private_row", "page", "invalidation", "result", "local_field_row"] {
      let statement = try PreparedStatement(database, "DELETE FROM \(table) WHERE scope = ?1")
      statement.bind(id, at: 1)
      try statement.run()
    }
    // What the removed rows said is not kept for observers.
    let history = try PreparedStatement(database, "DELETE FROM past WHERE scope = ?1 AND type < 0")
    history.bind(id, at: 1)
    try history.run()
    return emptied
  }

  /// One statement for the log and one for the rows, whatever their number.
  private func empty(
    _ type: Int64, name: String, table: String, of scope: Scope, _ id: Int64
  ) throws {
    let selection = try PreparedStatement(
      database, "SELECT key FROM \(table) WHERE scope = ?1 AND fields IS NOT NULL")
    selection.bind(id, at: 1)
    var isFilled = false
    while try selection.step() {
      isFilled = true
      context.noteChange(of: EntityKey(type: name, key: selection.string(0)), in: scope)
    }
    selection.reset()
    if isFilled {
      let revision = context.takeRevision()
      let log = try PreparedStatement(
        database,
        """
        INSERT INTO change (scope, type, key, created, revision, kind) \
        SELECT scope, ?2, key, ?3, ?3, 1 FROM \(table) WHERE scope = ?1 AND fields IS NOT NULL \
        ON CONFLICT (scope, type, key) DO UPDATE SET revision = excluded.revision, kind = 1
        """)
      log.bind(id, at: 1)
      log.bind(type, at: 2)
      log.bind(revision, at: 3)
      try log.run()
      try TombstoneLog.addAll(ofType: type, at: revision, database)
    }
    let deletion = try PreparedStatement(database, "DELETE FROM \(table) WHERE scope = ?1")
    deletion.bind(id, at: 1)
    try deletion.run()
  }
}
