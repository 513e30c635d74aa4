import GRDB
import LosslessJSON
import Model

/// The rows in a device's own scope that hold the optimistic updates of its queue.
///
/// They carry the highest call number and an equally high barrier: no response, purge or eviction
/// is ever later, so only the queue's own commands change them.
struct OverlayRows {
  static let call = Int64.max

  let context: WriteContext
  let device: String
  let now: Timestamp
  private var database: Database { context.database }

  init(_ context: WriteContext, device: String, now: Timestamp) {
    self.context = context
    self.device = device
    self.now = now
  }

  // MARK: Changes

  func add(_ changes: [OverlayChange], of mutation: MutationID, place: Int64) throws {
    for change in changes {
      let statement = try PreparedStatement(
        database,
        """
        INSERT INTO overlay (mutation, place, device, type, key, action, fields) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """)
      statement.bind(mutation.value, at: 1)
      statement.bind(place, at: 2)
      statement.bind(device, at: 3)
      statement.bind(change.key.type, at: 4)
      statement.bind(change.key.key, at: 5)
      statement.bind(change.action.rawValue, at: 6)
      statement.bind(change.fields, at: 7)
      try statement.run()
    }
    for key in Set(changes.map(\.key)) { try fold(key) }
  }

  /// Moves a mutation's changes to its new place in the queue.
  func move(_ mutation: MutationID, to place: Int64) throws {
    let statement = try PreparedStatement(
      database, "UPDATE overlay SET place = ?2 WHERE mutation = ?1")
    statement.bind(mutation.value, at: 1)
    statement.bind(place, at: 2)
    try statement.run()
    for key in Set(try changes(of: mutation).map(\.key)) { try fold(key) }
  }

  /// Returns the changes that a mutation was expected to make.
  func changes(of mutation: MutationID) throws -> [OverlayChange] {
    let statement = try PreparedStatement(
      database, "SELECT action, type, key, fields FROM overlay WHERE mutation = ?1 ORDER BY id")
    statement.bind(mutation.value, at: 1)
    defer { statement.reset() }
    var changes: [OverlayChange] = []
    while try statement.step() {
      guard let action = OverlayChange.Action(rawValue: statement.string(0)) else { continue }
      changes.append(
        OverlayChange(
          action, EntityKey(type: statement.string(1), key: statement.string(2)),
          fields: statement.bytes(3) ?? []))
    }
    return changes
  }

  /// Removes a mutation's changes, whether they are reverted or have become true.
  func remove(of mutation: MutationID) throws {
    let keys = Set(try changes(of: mutation).map(\.key))
    guard !keys.isEmpty else { return }
    let statement = try PreparedStatement(database, "DELETE FROM overlay WHERE mutation = ?1")
    statement.bind(mutation.value, at: 1)
    try statement.run()
    for key in keys { try fold(key) }
  }

  /// Replaces temporary ids that became known: overlays on them apply to the real entities from now
  /// on, and references to them point to these.
  func resolve(_ resolved: [TemporaryID: EntityKey]) throws {
    let statement = try PreparedStatement(
      database, "SELECT id, type, key, fields FROM overlay WHERE device = ?1")
    statement.bind(device, at: 1)
    var found: [(id: Int64, key: EntityKey, fields: [UInt8])] = []
    while try statement.step() {
      let key = EntityKey(type: statement.string(1), key: statement.string(2))
      found.append((statement.int64(0), key, statement.bytes(3) ?? []))
    }
    statement.reset()
    var touched: Set<EntityKey> = []
    for row in found {
      let key = TemporaryID(row.key.key).flatMap { resolved[$0] } ?? row.key
      let fields = (try? JSONValue(checked: row.fields))
        .map { TemporaryID.substituting(resolved, in: $0).bytes }
      guard key != row.key || (fields ?? row.fields) != row.fields else { continue }
      try move(row.id, to: key, fields: fields ?? row.fields)
      touched.formUnion([row.key, key])
    }
    for key in touched { try fold(key) }
  }

  private func move(_ id: Int64, to key: EntityKey, fields: [UInt8]) throws {
    let statement = try PreparedStatement(
      database, "UPDATE overlay SET type = ?2, key = ?3, fields = ?4 WHERE id = ?1")
    statement.bind(id, at: 1)
    statement.bind(key.type, at: 2)
    statement.bind(key.key, at: 3)
    statement.bind(fields, at: 4)
    try statement.run()
  }

  /// Returns all entities that have overlays, of every device.
  static func overlaidEntities(_ database: Database) throws -> [CommitReport.Overlay] {
    let statement = try PreparedStatement(
      database, "SELECT DISTINCT device, type, key FROM overlay")
    defer { statement.reset() }
    var entities: [CommitReport.Overlay] = []
    while try statement.step() {
      let key = EntityKey(type: statement.string(1), key: statement.string(2))
      entities.append(CommitReport.Overlay(device: statement.string(0), key: key, isLaid: true))
    }
    return entities
  }

  // MARK: Lingering

  /// How long an overlay stays after its mutation was settled, if neither the response nor a later
  /// fetch covered it.
  static let lingerMax = Duration.seconds(30)

  /// Keeps a finished mutation's overlay for a while.
  func linger(_ mutation: MutationID) throws {
    let statement = try PreparedStatement(
      database, "UPDATE overlay SET settled_call = ?2, lingers_until = ?3 WHERE mutation = ?1")
    statement.bind(mutation.value, at: 1)
    statement.bind(context.call, at: 2)
    statement.bind(now.advanced(by: Self.lingerMax).milliseconds, at: 3)
    try statement.run()
    context.memory.mayLinger = true
  }

  /// Drops lingering overlays on the entities of a later call's response, as far as the response
  /// covers their fields.
  ///
  /// - Parameter overtaken: entities whose values in the response were not applied.
  static func dropCovered(
    by response: NormalisedResponse, except overtaken: Set<EntityKey>, in context: WriteContext
  ) throws {
    let keys = (response.entities.map(\.key) + response.deletions).filter {
      !overtaken.contains($0)
    }
    guard context.memory.mayLinger, !keys.isEmpty else { return }
    let covered = Dictionary(
      response.entities.map { ($0.key, Set($0.fields.map(\.name))) }, uniquingKeysWith: { $1 })
    for (type, keys) in Dictionary(grouping: keys, by: \.type) {
      let found = try lingering(
        "type = ?2 AND key IN (SELECT value FROM json_each(?3)) AND settled_call < ?1", context
      ) { statement in
        statement.bind(context.call, at: 1)
        statement.bind(type, at: 2)
        try statement.bind(KeyList.json(keys.map(\.key)), at: 3)
      }
      try drop(
        found.filter { covered[$0.key]?.isSuperset(of: $0.fields) ?? true }, in: context,
        now: response.received)
    }
  }

  /// Drops overlays that have lingered for too long.
  ///
  /// - Returns: when the next of them expires; nil if none is left.
  static func expire(in context: WriteContext, now: Timestamp) throws -> Timestamp? {
    let found = try lingering("lingers_until <= ?1", context) {
      $0.bind(now.milliseconds, at: 1)
    }
    try drop(found, in: context, now: now)
    let statement = try PreparedStatement(
      context.database,
      "SELECT min(lingers_until) FROM overlay WHERE lingers_until IS NOT NULL")
    defer { statement.reset() }
    guard try statement.step(), let next = statement.optionalInt64(0) else {
      context.memory.mayLinger = false
      return nil
    }
    return Timestamp(milliseconds: next)
  }

  /// A change whose mutation has been settled, and that still shows.
  private struct Lingering {
    let id: Int64
    let device: String
    let key: EntityKey
    /// The names of the fields it sets.
    let fields: [String]

    init(_ statement: PreparedStatement) {
      id = statement.int64(0)
      device = statement.string(1)
      key = EntityKey(type: statement.string(2), key: statement.string(3))
      let members = (try? JSONValue(checked: statement.bytes(4) ?? []))?.members ?? []
      fields = members.map(\.name)
    }
  }

  private static func lingering(
    _ condition: String, _ context: WriteContext, bind: (PreparedStatement) throws -> Void
  ) throws -> [Lingering] {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT id, device, type, key, fields FROM overlay \
      WHERE lingers_until IS NOT NULL AND \(condition)
      """)
    try bind(statement)
    defer { statement.reset() }
    var found: [Lingering] = []
    while try statement.step() { found.append(Lingering(statement)) }
    return found
  }

  private static func drop(
    _ found: [Lingering], in context: WriteContext, now: Timestamp
  ) throws {
    for row in found {
      let statement = try PreparedStatement(
        context.database, "DELETE FROM overlay WHERE id = ?1")
      statement.bind(row.id, at: 1)
      try statement.run()
      try OverlayRows(context, device: row.device, now: now).fold(row.key)
    }
  }

  // MARK: Rows

  /// Updates the device's row of an entity to the fold of the current changes.
  func fold(_ key: EntityKey) throws {
    // The table is dropped with the last operation that names the type; nothing shows it any more
    // either.
    guard let table = context.catalogue[key.type] else { return }
    let statement = try PreparedStatement(
      database,
      """
      SELECT action, fields, mutation FROM overlay \
      WHERE device = ?1 AND type = ?2 AND key = ?3 ORDER BY place, id
      """)
    statement.bind(device, at: 1)
    statement.bind(key.type, at: 2)
    statement.bind(key.key, at: 3)
    var fold: OverlayFold?
    while try statement.step() {
      guard let action = OverlayChange.Action(rawValue: statement.string(0)) else { continue }
      var next = fold ?? OverlayFold(key: key.key, integers: table.integers)
      try next.add(action, fields: statement.bytes(1) ?? [], mutation: statement.string(2))
      fold = next
    }
    statement.reset()
    let isShown = try fold.map { try !$0.needsEntity || isStored(key, table) } ?? true
    context.memory.note(hiddenChangesOf: key, device: device, fold != nil && !isShown)
    if let fold, isShown { try write(fold.row, key, table) } else { try remove(key, table) }
  }

  /// Whether some scope has the entity itself. The scopes of the device's user are not known here.
  private func isStored(_ key: EntityKey, _ table: EntityTable) throws -> Bool {
    if try StoredRow.find(key.key, scope: ScopeTable.publicID, table, database)?.fields != nil {
      return true
    }
    let statement = try PreparedStatement(
      database,
      """
      SELECT 1 FROM private_row CROSS JOIN \(EntityTable.quoted(table.name)) AS stored \
      ON stored.scope = private_row.scope AND stored.key = private_row.key \
      WHERE private_row.type = ?1 AND private_row.key = ?2 \
      AND stored.fields IS NOT NULL AND stored.call < ?3 LIMIT 1
      """)
    statement.bind(table.id, at: 1)
    statement.bind(key.key, at: 2)
    statement.bind(Self.call, at: 3)
    defer { statement.reset() }
    return try statement.step()
  }

  /// Updates the devices' rows of entities that a response has deleted, or whose changes were not shown before
  /// since they were not stored.
  static func followEntities(of response: NormalisedResponse, in context: WriteContext) throws {
    var found: [(device: String, key: EntityKey)] = []
    let hidden = try hiddenChanges(in: context)
    if !hidden.isEmpty {
      for key in response.entities.lazy.map(\.key) {
        for device in hidden[key] ?? [] { found.append((device, key)) }
      }
    }
    for key in response.deletions {
      let statement = try PreparedStatement(
        context.database, "SELECT DISTINCT device FROM overlay WHERE type = ?1 AND key = ?2")
      statement.bind(key.type, at: 1)
      statement.bind(key.key, at: 2)
      defer { statement.reset() }
      while try statement.step() { found.append((statement.string(0), key)) }
    }
    for (device, key) in found {
      try OverlayRows(context, device: device, now: response.received).fold(key)
    }
  }

  /// Returns the devices whose changes of an entity are not shown, read once after a start.
  private static func hiddenChanges(in context: WriteContext) throws -> [EntityKey: Set<String>] {
    if let known = context.memory.hiddenChanges { return known }
    var hidden: [EntityKey: Set<String>] = [:]
    for overlay in try overlaidEntities(context.database) {
      guard let table = context.catalogue[overlay.key.type] else { continue }
      let scope = try context.memory.scopeID(.device(overlay.device), context.database)
      if try StoredRow.find(overlay.key.key, scope: scope, table, context.database) == nil {
        hidden[overlay.key, default: []].insert(overlay.device)
      }
    }
    context.memory.hiddenChanges = hidden
    return hidden
  }

  private func write(_ fields: [UInt8]?, _ key: EntityKey, _ table: EntityTable) throws {
    let scope = Scope.device(device)
    let id = try context.memory.scopeID(scope, database)
    let stored = try StoredRow.find(key.key, scope: id, table, database)
    if let stored {
      guard stored.fields != fields else { return }
      try stored.update(
        in: table, call: Self.call, received: now, isChanged: true, barrier: Self.call,
        stamps: nil, fields: fields, context)
    } else {
      let row = NewRow(
        scope: id, key: key.key, call: Self.call, received: now, barrier: Self.call,
        fields: fields)
      try row.insert(into: table, context)
      context.memory.noteRow(of: table.type, in: scope.kind)
      context.note(CommitReport.Overlay(device: device, key: key, isLaid: true))
    }
    if fields == nil {
      try context.logDeletion(of: key, in: scope, id: id, type: table.id)
    } else if stored?.fields == nil {
      try context.logCreation(
        of: key, in: scope, id: id, type: table.id, lifts: stored != nil)
    } else {
      try context.logUpdate(of: key, in: scope, id: id, type: table.id)
    }
  }

  /// Removes the row. The log records a deletion; a reader of the log then finds what shows now.
  private func remove(_ key: EntityKey, _ table: EntityTable) throws {
    let scope = Scope.device(device)
    let id = try context.memory.scopeID(scope, database)
    guard let stored = try StoredRow.find(key.key, scope: id, table, database),
      stored.barrier == Self.call
    else { return }
    let statement = try PreparedStatement(database, table.delete)
    statement.bind(stored.rowid, at: 1)
    try statement.run()
    try PrivateRows.remove(key.key, scope: id, type: table.id, database)
    try context.logDeletion(
      of: key, in: scope, id: id, type: table.id, lifts: stored.fields == nil)
    context.note(CommitReport.Overlay(device: device, key: key, isLaid: false))
  }
}
