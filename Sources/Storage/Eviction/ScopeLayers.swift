import GRDB
import Model

/// What lies under a row in wider scopes, and would show through if the row went.
struct ScopeLayers {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Which callers see both scopes is not known here, so every wider one counts: under a device's
  /// row any user's, and any role's under both.
  func shows(_ key: String, under scope: Int64, _ table: EvictionTable) throws -> Bool {
    guard scope != ScopeTable.publicID,
      let kind = try ScopeTable.scope(scope, database)?.kind
    else { return false }
    return try asks(table.hasPublicContents, key)
      || asks(table.hasWiderContents, key, kind.wider)
  }

  /// Whether it lies under what some device's queue is expected to do: then it is the base of what
  /// that device sees, and of what is left when the expectation is taken back.
  func isOverlaid(_ key: String, _ table: EvictionTable) throws -> Bool {
    try asks(table.hasOverlay, key, [.device])
  }

  private func asks(_ sql: String, _ key: String, _ kinds: [Scope.Kind]? = nil) throws -> Bool {
    let statement = try PreparedStatement(database, sql)
    statement.bind(key, at: 1)
    if let kinds { statement.bind(KeyList.json(numbers: kinds.map { Int64($0.rawValue) }), at: 2) }
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) != 0
  }
}
