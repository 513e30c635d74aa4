import GRDB
import LosslessJSON
import Model

/// The outcomes of a device's mutations: rows of a type of our own in the device's scope, so that
/// they travel in the change log under the same cursor as data.
///
/// Like ``OverlayRows`` they carry the highest call number, so that only the queue changes them.
struct OutcomeRows {
  private static let call = Int64.max

  let context: WriteContext
  let device: String
  let now: Timestamp

  init(_ context: WriteContext, device: String, now: Timestamp) {
    self.context = context
    self.device = device
    self.now = now
  }

  /// Inserts or updates the outcome of a mutation.
  ///
  /// - Parameter fields: the document that the client reads.
  func write(_ fields: [UInt8], of id: MutationID) throws {
    let key = EntityKey(type: QueueTypes.outcome, key: id.value)
    let table = try context.table(of: key.type)
    let scope = Scope.device(device)
    let number = try context.memory.scopeID(scope, context.database)
    guard let stored = try StoredRow.find(key.key, scope: number, table, context.database) else {
      let row = NewRow(
        scope: number, key: key.key, call: Self.call, received: now, barrier: Self.call,
        fields: fields)
      try row.insert(into: table, context)
      return try context.logCreation(of: key, in: scope, id: number, type: table.id)
    }
    guard stored.fields != fields else { return }
    try stored.update(
      in: table, call: Self.call, received: now, isChanged: true, barrier: Self.call, stamps: nil,
      fields: fields, context)
    try context.logUpdate(of: key, in: scope, id: number, type: table.id)
  }

  /// Removes the outcome of a mutation whose idempotency key has been forgotten.
  func remove(_ id: MutationID) throws {
    let key = EntityKey(type: QueueTypes.outcome, key: id.value)
    let table = try context.table(of: key.type)
    let scope = Scope.device(device)
    let number = try context.memory.scopeID(scope, context.database)
    guard let stored = try StoredRow.find(key.key, scope: number, table, context.database) else {
      return
    }
    let statement = try PreparedStatement(context.database, table.delete)
    statement.bind(stored.rowid, at: 1)
    try statement.run()
    try PrivateRows.remove(key.key, scope: number, type: table.id, context.database)
    try context.logDeletion(of: key, in: scope, id: number, type: table.id)
  }
}
