import GRDB
import Model

/// Turns one entity's row into a tombstone, or leaves one where there was no row: it hides what
/// wider scopes say and refuses answers that began before it.
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
