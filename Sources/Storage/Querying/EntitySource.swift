import Filtering
import GRDB
import Model

/// The SQL source of a type's rows as a viewer sees them: `key`, and a column with the visible value for
/// each field that a query needs.
///
/// If only one scope holds rows of the type, the source is the table itself with its indexes. Otherwise it
/// is a union: rows of the widest scope that no narrower scope holds, and merged rows, which take each field
/// from the narrowest row that has it (null is a value), down to the first tombstone.
struct EntitySource {
  private let table: EntityTable
  private let fields: [String]
  /// The numbers of the scopes that hold rows of the type, narrowest first.
  let scopes: [Int64]

  var isPlain: Bool { scopes.count < 2 }

  /// - Parameter fields: the fields that the query names, without repeats.
  init(_ table: EntityTable, fields: [String], scopes: [Int64], _ db: Database) throws {
    self.table = table
    self.fields = fields
    self.scopes = try scopes.filter { scope in
      let statement = try PreparedStatement(
        db, "SELECT 1 FROM \(EntityTable.quoted(table.name)) WHERE scope = ?1 LIMIT 1")
      statement.bind(scope, at: 1)
      defer { statement.reset() }
      return try statement.step()
    }
  }

  /// Returns the SQL of a field's column.
  func column(_ field: String) throws(StorageError) -> String {
    guard let name = table.columns[field] else {
      throw .failed(code: 0, message: "the type \(table.type) has no column for the field \(field)")
    }
    return "seen.\(EntityTable.quoted(name))"
  }

  /// Appends `FROM … WHERE …`, to which conditions can be added with AND.
  ///
  /// - Parameter members: the only keys to select; `member.key` is a key's index in this list.
  func append(to sql: inout BoundSQL, members: [String]?) throws {
    let name = EntityTable.quoted(table.name)
    sql.append(" FROM ")
    if let members {
      sql.append("json_each(")
      sql.append(.text(String(decoding: try KeyList.json(members), as: UTF8.self)))
      sql.append(") AS member CROSS JOIN ")
    }
    if isPlain {
      sql.append("\(name) AS seen")
      if members != nil { sql.append(" ON seen.key = member.value") }
      sql.append(" WHERE seen.scope = ")
      sql.append(.integer(scopes.first ?? ScopeTable.publicID))
      sql.append(" AND seen.fields IS NOT NULL")
    } else {
      sql.append("(")
      try appendUnion(to: &sql)
      sql.append(") AS seen")
      sql.append(members == nil ? " WHERE 1" : " ON seen.key = member.value WHERE 1")
    }
  }

  private func appendUnion(to sql: inout BoundSQL) throws {
    let name = EntityTable.quoted(table.name)
    let columns = try fields.map { try quotedColumn($0) }
    let narrow = scopes.dropLast()
    sql.append("SELECT wide.key AS key")
    for column in columns { sql.append(", wide.\(column) AS \(column)") }
    sql.append(" FROM \(name) AS wide WHERE wide.scope = ")
    sql.append(.integer(scopes.last ?? ScopeTable.publicID))
    sql.append(" AND wide.fields IS NOT NULL")
    for scope in narrow {
      sql.append(" AND NOT EXISTS (SELECT 1 FROM \(name) AS above WHERE above.scope = ")
      sql.append(.integer(scope))
      sql.append(" AND above.key = wide.key)")
    }
    sql.append(" UNION ALL SELECT known.key AS key")
    for (field, column) in zip(fields, columns) {
      sql.append(", CASE")
      for layer in scopes.indices {
        sql.append(
          " WHEN json_type(layer\(layer).fields, '$.\"\(field)\"') IS NOT NULL "
            + "THEN layer\(layer).\(column)")
      }
      sql.append(" END AS \(column)")
    }
    sql.append(" FROM (SELECT DISTINCT key FROM \(name) WHERE scope IN (")
    for (index, scope) in narrow.enumerated() {
      if index > 0 { sql.append(", ") }
      sql.append(.integer(scope))
    }
    sql.append(")) AS known")
    for (layer, scope) in scopes.enumerated() {
      sql.append(" LEFT JOIN \(name) AS layer\(layer) ON layer\(layer).scope = ")
      sql.append(.integer(scope))
      sql.append(" AND layer\(layer).key = known.key")
      // A tombstone hides the wider layers.
      for above in 0..<layer {
        sql.append(" AND (layer\(above).scope IS NULL OR layer\(above).fields IS NOT NULL)")
      }
    }
    let shown = scopes.indices.map { "layer\($0).fields" }.joined(separator: ", ")
    sql.append(" WHERE coalesce(\(shown)) IS NOT NULL")
  }

  private func quotedColumn(_ field: String) throws(StorageError) -> String {
    String(try column(field).dropFirst("seen.".count))
  }
}
