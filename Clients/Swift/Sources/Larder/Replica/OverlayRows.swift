import GRDB

/// An entity's place. Ids are equal if their bytes are, as in Larder and SQLite: texts that are canonically
/// equal in Unicode can be two ids.
struct EntityKey: Hashable, Sendable {
  let type: String
  let id: String

  static func == (left: Self, right: Self) -> Bool {
    left.type == right.type && left.id.utf8.elementsEqual(right.id.utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    for byte in id.utf8 { hasher.combine(byte) }
  }
}

/// The overlays of a profile's outbox, and the entities that they change as they show (the table `shadow`).
struct OverlayRows {
  private struct Step {
    let item: String
    let kind: OptimisticChange.Kind
    let fields: [String: JSONValue]
  }

  let db: Database
  let profile: String

  init(_ db: Database, _ profile: String) {
    self.db = db
    self.profile = profile
  }

  func keys(of number: Int) throws -> [EntityKey] {
    try keys("SELECT type, id FROM overlay WHERE profile = ? AND number = ?", [profile, number])
  }

  private func keys(_ sql: String, _ arguments: StatementArguments) throws -> [EntityKey] {
    try Row.fetchAll(db, sql: sql, arguments: arguments).map { EntityKey(type: $0[0], id: $0[1]) }
  }

  // MARK: Temporary ids

  /// The real id for a temporary one that is known; else the same.
  func real(_ id: String) throws -> String {
    guard TemporaryID.isOne(id) else { return id }
    return try String.fetchOne(
      db.cachedStatement(sql: "SELECT real FROM temporary WHERE profile = ? AND id = ?"),
      arguments: [profile, id]) ?? id
  }

  private func resolved(_ value: JSONValue) throws -> JSONValue {
    switch value {
    case .string(let text): .string(try real(text))
    case .array(let elements): .array(try elements.map(resolved))
    case .object(let members): .object(try members.mapValues(resolved))
    case .null, .bool, .number: value
    }
  }

  // MARK: Folding

  /// Computes all entities that overlays change, or changed before.
  func refoldAll() throws {
    try refold(
      keys(
        """
        SELECT type, id FROM overlay WHERE profile = ?1
        UNION SELECT type, id FROM shadow WHERE profile = ?1
        """, [profile]))
  }

  /// Computes entities again, of which the replica, an overlay or the real id has changed.
  func refold(_ keys: some Sequence<EntityKey>) throws {
    var real: Set<EntityKey> = []
    for key in keys {
      let id = try self.real(key.id)
      real.insert(EntityKey(type: key.type, id: id))
      // What showed under the temporary id shows under the real one.
      if id != key.id { try hide(key) }
    }
    for key in real { try fold(key) }
  }

  private func hide(_ key: EntityKey) throws {
    try db.executeKept(
      "DELETE FROM shadow WHERE profile = ? AND type = ? AND id = ?", [profile, key.type, key.id])
  }

  private func fold(_ key: EntityKey) throws {
    let steps = try self.steps(of: key)
    guard !steps.isEmpty else { return try hide(key) }
    var members = try String.fetchOne(
      db.cachedStatement(
        sql: "SELECT data FROM replica WHERE profile = ? AND type = ? AND id = ?"),
      arguments: [profile, key.type, key.id]
    ).flatMap { try JSONValue(parsing: $0).object }
    for step in steps {
      switch step.kind {
      case .delete: members = nil
      case .merge where members == nil: break
      case .merge, .create:
        var changed = members ?? ["__typename": .string(key.type), "id": .string(key.id)]
        for (name, value) in step.fields { changed[name] = try resolved(value) }
        changed["_pending"] = .array((changed["_pending"]?.array ?? []) + [.string(step.item)])
        members = changed
      }
    }
    try db.executeKept(
      "INSERT OR REPLACE INTO shadow VALUES (?, ?, ?, ?)",
      [profile, key.type, key.id, members.map { JSONValue.object($0).text }])
  }

  /// The steps for an entity under its real or temporary ids, in the order of the items.
  private func steps(of key: EntityKey) throws -> [Step] {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT item.key, overlay.op, overlay.fields FROM overlay JOIN item USING (profile, number)
          WHERE profile = ?1 AND overlay.type = ?2 AND (overlay.id = ?3
            OR overlay.id IN (SELECT id FROM temporary WHERE profile = ?1 AND real = ?3))
          ORDER BY number, step
          """), arguments: [profile, key.type, key.id])
    return try rows.compactMap { row in
      guard let kind = OptimisticChange.Kind(rawValue: row[1]) else { return nil }
      return Step(
        item: row[0], kind: kind, fields: try JSONValue(parsing: row[2] as String).object ?? [:])
    }
  }
}
