import Foundation
import GRDB

/// What the app sees at one moment: the replica of the active profile with the overlays of its outbox.
///
/// It cannot write, and is only valid in the closure that it is given to.
public struct LocalDatabase {
  /// Statements of lists of values, which can be of any length, are not kept.
  private static let keptArgumentsMax = 32

  let db: Database
  let profile: String

  private func access<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw PhoneStore.failure(error)
    }
  }

  /// The entities of a query, as JSON objects.
  public func entities(_ query: EntityQuery) throws -> [JSONValue] {
    try rows(query).map { try JSONValue(parsing: $0.content) }
  }

  /// The ids and JSON texts of a query, as bytes: texts of other bytes can be equal.
  ///
  /// - Parameter isRepeated: keeps the prepared statement.
  func rows(
    _ query: EntityQuery, isRepeated: Bool = false
  ) throws -> [(id: [UInt8], content: [UInt8])] {
    let sql = query.page(profile: profile)
    return try access {
      let isKept = isRepeated && sql.arguments.count <= Self.keptArgumentsMax
      let statement =
        try isKept ? db.cachedStatement(sql: sql.text) : db.makeStatement(sql: sql.text)
      let rows = try Row.fetchCursor(statement, arguments: StatementArguments(sql.arguments))
      return try Array(rows.map { (try Self.bytes($0, 0), try Self.bytes($0, 1)) })
    }
  }

  private static func bytes(_ row: Row, _ column: Int) throws -> [UInt8] {
    try row.withUnsafeData(atIndex: column) { [UInt8]($0 ?? Data()) }
  }

  /// An entity by its id. A temporary id finds the real entity.
  public func entity(_ type: String, key: String) throws -> JSONValue? {
    try access {
      let id = try OverlayRows(db, profile).real(key)
      return try String.fetchOne(
        db, sql: "SELECT data FROM shown WHERE profile = ? AND type = ? AND id = ?",
        arguments: [profile, type, id]
      ).map { try JSONValue(parsing: $0) }
    }
  }

  /// The number of the entities of a query, without its limit.
  public func count(_ query: EntityQuery) throws -> Int {
    let sql = query.sql(profile: profile, columns: "count(*)")
    return try access {
      try Int.fetchOne(db, sql: sql.text, arguments: StatementArguments(sql.arguments)) ?? 0
    }
  }

  /// The values of a field in the whole result of a query, each with the number of its entities, in order.
  public func sections(
    _ query: EntityQuery, by field: String, isDescending: Bool = false
  ) throws -> [(name: JSONValue, count: Int)] {
    let inner = query.sql(profile: profile)
    let sql = """
      SELECT json_quote(json_extract(data, ?)) AS name, count(*) FROM (\(inner.text))
      GROUP BY json_extract(data, ?) ORDER BY json_extract(data, ?)\(isDescending ? " DESC" : "")
      """
    let path = jsonPath(field)
    let arguments: [(any DatabaseValueConvertible)?] = [path] + inner.arguments + [path, path]
    return try access {
      try Row.fetchAll(db, sql: sql, arguments: StatementArguments(arguments))
        .map { (try JSONValue(parsing: $0[0] as String), $0[1]) }
    }
  }

  /// All entities, by type and id.
  public func all() throws -> [String: [String: JSONValue]] {
    var result: [String: [String: JSONValue]] = [:]
    let rows = try access {
      try Row.fetchAll(
        db, sql: "SELECT type, id, data FROM shown WHERE profile = ?", arguments: [profile])
    }
    for row in rows {
      let (type, id): (String, String) = (row[0], row[1])
      result[type, default: [:]][id] = try JSONValue(parsing: row[2] as String)
    }
    return result
  }

  /// The rows of a SELECT over the view `entities` (`type`, `id`, `data`: the entity as JSON), which is all that
  /// it can read.
  public func rows(sql: String, arguments: [JSONValue] = []) throws -> [[String: JSONValue]] {
    let bound = arguments.map { Condition.bound($0) }
    let rows = try access {
      try AppSQL.check(sql)
      return try Row.fetchAll(db, sql: sql, arguments: StatementArguments(bound))
    }
    return rows.map { row in
      var result: [String: JSONValue] = [:]
      for (name, value) in row {
        switch value.storage {
        case .null: result[name] = .null
        case .int64(let number): result[name] = .number(JSONNumber(number))
        case .double(let number):
          result[name] = number.isFinite ? .number(JSONNumber(number)) : .null
        case .string(let text): result[name] = .string(text)
        case .blob(let data): result[name] = .string(data.base64EncodedString())
        }
      }
      return result
    }
  }
}
