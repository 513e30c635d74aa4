import GRDB
import Model

/// What lies under a row in wider scopes, and would show through if the row went.
struct ScopeLayers {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Which user a device belongs to is not known here, so under a device's row any user's counts.
  func shows(_ key: String, under scope: Int64, _ table: EvictionTable) throws -> Bool {
    guard scope != ScopeTable.publicID,
      let kind = try ScopeTable.scope(scope, database)?.kind
    else { return false }
    if try asks(table.hasPublicContents, key) { return true }
    return try kind == .device && asks(table.hasWiderContents, key, kind)
  }

  private func asks(_ sql: String, _ key: String, _ kind: Scope.Kind? = nil) throws -> Bool {
    let statement = try PreparedStatement(database, sql)
    statement.bind(key, at: 1)
    if let kind { statement.bind(Int64(kind.rawValue), at: 2) }
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) != 0
  }
}
