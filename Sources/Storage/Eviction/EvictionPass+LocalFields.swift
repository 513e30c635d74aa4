import GRDB
import Model

/// Local fields of upstream's entities: they cannot be fetched again, so they keep their entities from
/// eviction, and are deleted only long after upstream has deleted the entity.
extension EvictionPass {
  /// Whether any owner has local fields of an entity, whose rows are all kept then.
  func hasLocalFields(_ key: String, _ table: EvictionTable) throws -> Bool {
    guard memory.typesWithLocalFields.contains(table.table.id) else { return false }
    return try LocalFieldRows.exist(of: key, type: table.table.id, database)
  }

  /// Deletes the local fields of an entity that upstream deleted long ago.
  ///
  /// - Parameter deleted: the time of the deletion.
  /// - Returns: false while they are kept: then the tombstone stays, which shows them.
  func expireLocalFields(
    of key: String, _ table: EvictionTable, deleted: Timestamp
  ) throws -> Bool {
    guard try hasLocalFields(key, table) else { return true }
    let type = table.table
    let age = keepLocal[type.type] ?? EvictionPolicy.keepLocalDefault
    guard deleted.elapsed(until: now) >= age else { return false }
    // Another scope of upstream's data still has the entity.
    guard try !ScopeLayers(database).hasContents(key, table) else { return true }
    try removeLocalFields(of: EntityKey(type: type.type, key: key), in: type)
    return true
  }

  /// Deletes an entity's local fields of all owners. The log records the deletion of their rows; a reader of
  /// the log then finds what shows now.
  private func removeLocalFields(of key: EntityKey, in table: EntityTable) throws {
    let context = WriteContext(
      database, memory, catalogue, call: CallNumber(memory.counters.call),
      horizon: CallNumber(horizon))
    for id in try LocalFieldRows.scopes(holding: key.key, type: table.id, database) {
      guard let scope = try ScopeTable.scope(id, database),
        let row = try StoredRow.find(key.key, scope: id, table, database)
      else { continue }
      work.spend(EvictionWork.remove)
      let statement = try PreparedStatement(database, table.delete)
      statement.bind(row.rowid, at: 1)
      try statement.run()
      try context.logDeletion(of: key, in: scope, id: id, type: table.id)
    }
    try LocalFieldRows.removeAll(of: key.key, type: table.id, database)
    report.changes += context.changes
    report.revision = context.revision.map(Revision.init)
  }
}
