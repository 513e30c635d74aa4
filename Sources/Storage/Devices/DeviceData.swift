import GRDB
import Model

/// The data that is stored for one device only, and its removal.
///
/// The number of a scope is never removed: numbers are not reused, and the writer caches them.
struct DeviceData {
  let database: Database

  /// - Returns: the numbers of the types that lost rows.
  func remove(of device: String) throws -> Set<Int64> {
    let types = try Row.fetchAll(database, sql: "SELECT id, table_name FROM entity_type")
    var emptied: Set<Int64> = []
    for scope in try scopes(of: device) {
      for type in types {
        try run("DELETE FROM \(EntityTable.quoted(type["table_name"])) WHERE scope = ?1", scope)
        if database.changesCount > 0 { emptied.insert(type["id"]) }
      }
      for table in [
        "private_row", "gone", "change", "past", "page", "invalidation", "result",
        "local_field_row",
      ] {
        try run("DELETE FROM \(table) WHERE scope = ?1", scope)
      }
    }
    for table in QueueSchema.tables {
      let statement = try PreparedStatement(database, "DELETE FROM \(table) WHERE device = ?1")
      statement.bind(device, at: 1)
      try statement.run()
    }
    try LocalWriteKeys(database: database).removeAll(of: device)
    try OwnerUsage(database: database).forget(device: device)
    return emptied
  }

  /// The SQL condition for a row of `device` that holds unique data: queued mutations, or rows of local types
  /// or fields.
  static func holding(_ database: Database) throws -> String {
    let local = try String.fetchAll(
      database,
      sql: """
        SELECT table_name FROM entity_type JOIN local_type ON local_type.type = entity_type.id \
        ORDER BY table_name
        """)
    let mutations = "EXISTS (SELECT 1 FROM mutation WHERE mutation.device = device.id AND is_held)"
    let rows = local.map { table in
      """
      EXISTS (SELECT 1 FROM scope JOIN \(EntityTable.quoted(table)) AS stored \
      ON stored.scope = scope.id WHERE scope.kind = \(Scope.Kind.device.rawValue) \
      AND scope.subject = device.id)
      """
    }
    let fields = """
      EXISTS (SELECT 1 FROM scope JOIN local_field_row ON local_field_row.scope = scope.id \
      WHERE scope.kind = \(Scope.Kind.device.rawValue) AND scope.subject = device.id)
      """
    return "(" + ([mutations, fields] + rows).joined(separator: " OR ") + ")"
  }

  /// Returns the numbers of the scopes of a device.
  func scopes(of device: String) throws -> [Int64] {
    let statement = try PreparedStatement(
      database, "SELECT id FROM scope WHERE kind = ?1 AND subject = ?2")
    statement.bind(Int64(Scope.Kind.device.rawValue), at: 1)
    statement.bind(device, at: 2)
    defer { statement.reset() }
    var ids: [Int64] = []
    while try statement.step() { ids.append(statement.int64(0)) }
    return ids
  }

  private func run(_ sql: String, _ scope: Int64) throws {
    let statement = try PreparedStatement(database, sql)
    statement.bind(scope, at: 1)
    try statement.run()
  }
}
