import GRDB
import Model

/// The state of an entity that a change row records.
enum ChangeKind: Int64 {
  /// The entity exists: it was created at `created` and last changed at `revision`.
  case present = 0
  /// The entity was deleted or purged.
  case deleted = 1
  /// The entity exists as far as clients know, but is no longer stored. Nothing is sent; once it is
  /// fetched again, clients that knew it see a change, not a creation.
  case evicted = 2
}

/// The kinds of things that a result depends on besides the entities it references, and that can be
/// invalidated as a whole: one row each in `dependency` and `invalidation`.
enum DependencyKind: Int64 {
  case type = 0
  case tag = 1
  /// A later page of a list: due once the list's first page changes.
  case laterPage = 2
  case operation = 3
  /// An entity that was purged: there is no row to mark.
  case entity = 4

  /// The name of an entity in `invalidation`: a length-prefixed pair, never split again.
  static func name(of key: EntityKey) -> String {
    "\(key.type.utf8.count):\(key.type)\(key.key)"
  }

  /// The name of a paginated list in `dependency` and `page`.
  static func name(of list: ResultWrite.PageList) -> String {
    let owner = list.owner.map(name(of:)) ?? ""
    return "\(owner.utf8.count):\(owner)\(list.page.family)"
  }
}

/// Deleted and evicted entities in the order of their removal, so that those old enough to be
/// forgotten are found without scanning the rows that still exist.
///
/// An entry whose entity has changed since means nothing: the change row decides. A table of its
/// own, not an index over change rows of this kind, for the reason given at ``PrivateRows``.
enum TombstoneLog {
  static func add(
    _ key: String, scope: Int64, type: Int64, at revision: Int64, _ db: Database
  ) throws {
    let statement = try PreparedStatement(
      db, "INSERT OR IGNORE INTO gone (revision, scope, type, key) VALUES (?1, ?2, ?3, ?4)")
    statement.bind(revision, at: 1)
    statement.bind(scope, at: 2)
    statement.bind(type, at: 3)
    statement.bind(key, at: 4)
    try statement.run()
  }

  /// Adds all deletions of a type at one revision.
  static func addAll(ofType type: Int64, at revision: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT OR IGNORE INTO gone SELECT revision, scope, type, key FROM change \
        WHERE type = ? AND revision = ? AND kind <> 0
        """, arguments: [type, revision])
  }
}
