import GRDB

extension PhoneStore {
  /// Each costs a little time at every change of an entity of its type.
  static let listIndexesMax = 8
  /// Fewer entities of a type are read in less than a millisecond without an index.
  static let indexedEntitiesMin = 500

  /// Their names begin with it. Versions of SQLite can differ in the values that they find in JSON.
  private static func prefix(_ db: Database) throws -> String {
    "list \(try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "") "
  }

  /// Finds the indexes that former processes have made, and drops those of another version of SQLite.
  func openListIndexes(_ db: Database) throws {
    let prefix = try Self.prefix(db)
    let names = try String.fetchAll(
      db, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'list *'")
    for name in names where !name.hasPrefix(prefix) {
      try db.execute(sql: "DROP INDEX \"\(name)\"")
    }
    listIndexes.withLock { $0 = names.filter { $0.hasPrefix(prefix) } }
  }

  /// Notes that an index is used.
  ///
  /// - Parameter canMake: makes it if it is missing and the type has many entities. The least recently
  ///   used one gives way.
  /// - Returns: whether it is there. Without space for it lists are read without it.
  func use(_ index: ListIndex, canMake: Bool) async -> Bool {
    let isThere = listIndexes.withLock { names in
      guard let place = names.firstIndex(where: { $0.hasSuffix(" " + index.definition) }) else {
        return false
      }
      names.append(names.remove(at: place))
      return true
    }
    if isThere || !canMake { return isThere }
    guard (try? await read { db in try Self.hasMany(db, index.type) }) == true else { return false }
    return (try? await make(index)) != nil
  }

  private static func hasMany(_ db: Database, _ type: String) throws -> Bool {
    let count = try Int.fetchOne(
      db,
      sql: """
        SELECT count(*) FROM (
          SELECT 1 FROM profile JOIN replica ON replica.profile = profile.id
          WHERE replica.type = ? LIMIT ?)
        """, arguments: [type, indexedEntitiesMin])
    return count == indexedEntitiesMin
  }

  private func make(_ index: ListIndex) async throws {
    let listIndexes = listIndexes
    try await write { db in
      let name = try Self.prefix(db) + index.definition
      let names = listIndexes.withLock { $0 }
      guard !names.contains(name) else { return }
      let dropped = names.prefix(max(0, names.count + 1 - Self.listIndexesMax))
      for name in dropped { try db.execute(sql: "DROP INDEX \"\(name)\"") }
      try index.create(db, name: name)
      db.afterNextTransaction { _ in
        listIndexes.withLock { names in
          names.removeAll { dropped.contains($0) }
          names.append(name)
        }
      }
    }
  }
}
