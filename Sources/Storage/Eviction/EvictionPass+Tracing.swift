import GRDB
import LosslessJSON
import Model

extension EvictionPass {
  private static let privateRowsAtATime = 256

  /// Whether references of marked rows are still to be followed.
  var isTracing: Bool {
    guard let marks else { return false }
    return !unresolved.isEmpty || !widening.isEmpty || !marks.isSettled
  }

  /// Follows references until none is left or the step's work is spent.
  func trace() throws {
    while !work.isSpent {
      if let wide = widening.popLast() {
        try widen(wide.table, wide.key, after: wide.after)
      } else if let reference = unresolved.popLast() {
        try resolve(reference)
      } else if let place = marks?.popPending() {
        try read(place)
      } else {
        return
      }
    }
  }

  /// Reads the references of one row. Older layers of its fields are skipped: what a later layer has
  /// replaced never becomes visible again.
  private func read(_ place: RowPlace) throws {
    let sql: String
    if place.type == RowPlace.resultType {
      sql = "SELECT fields FROM result WHERE id = ?1"
    } else if let table = tables.first(where: { $0.table.id == place.type }) {
      sql = table.contents
    } else {
      return
    }
    work.spend(EvictionWork.read)
    let statement = try PreparedStatement(database, sql)
    statement.bind(place.row, at: 1)
    defer { statement.reset() }
    guard try statement.step(), let text = statement.bytes(0) else { return }
    work.spend(text.count / EvictionWork.bytesParsed)
    try StoredReferences.append(in: text, to: &unresolved)
  }

  /// Marks an entity's rows in every scope: each can be a layer of a viewer's data.
  private func resolve(_ key: EntityKey) throws {
    guard let table = tablesByType[key.type] else { return }
    work.spend(EvictionWork.read)
    let isPrivate = memory.mayBeHidden(key.type, in: .public)
    let publicRow = try publicRow(key.key, table)
    let first =
      try publicRow
      ?? (isPrivate
        ? privateRows(key.key, table, after: ScopeTable.publicID, limit: 1).first?.row : nil)
    guard let first, marks?.visit(RowPlace(type: table.table.id, row: first)) == true else {
      return
    }
    if let publicRow { marks?.mark(RowPlace(type: table.table.id, row: publicRow)) }
    if isPrivate { widening.append((table, key.key, after: ScopeTable.publicID)) }
  }

  private func widen(_ table: EvictionTable, _ key: String, after last: Int64) throws {
    let limit = Self.privateRowsAtATime
    let rows = try privateRows(key, table, after: last, limit: limit)
    work.spend(EvictionWork.read + rows.count * EvictionWork.look)
    for row in rows { marks?.mark(RowPlace(type: table.table.id, row: row.row)) }
    if let last = rows.last, rows.count == limit {
      widening.append((table, key, after: last.scope))
    }
  }

  private func publicRow(_ key: String, _ table: EvictionTable) throws -> Int64? {
    let statement = try PreparedStatement(database, table.publicRow)
    statement.bind(key, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  private func privateRows(
    _ key: String, _ table: EvictionTable, after last: Int64, limit: Int
  ) throws -> [(scope: Int64, row: Int64)] {
    let statement = try PreparedStatement(database, table.privateRows)
    statement.bind(key, at: 1)
    statement.bind(last, at: 2)
    statement.bind(Int64(limit), at: 3)
    var rows: [(Int64, Int64)] = []
    while try statement.step() { rows.append((statement.int64(0), statement.int64(1))) }
    statement.reset()
    return rows
  }
}

/// The entities that a stored text refers to at any depth.
///
/// Unlike ``ReferenceWalk`` it uses no selection, so a value inside a custom scalar that looks like a
/// reference counts as one: this can keep an entity too many, never one too few.
enum StoredReferences {
  static func append(
    in text: [UInt8], to references: inout [EntityKey]
  ) throws(StorageError) {
    do throws(JSONParseError) {
      append(in: try JSONDocument(checked: text).root, to: &references)
    } catch {
      throw .corrupt("a stored row is not JSON: \(error)")
    }
  }

  private static func append(in node: JSONNode, to references: inout [EntityKey]) {
    switch node.kind {
    case .array:
      for element in node.elements { append(in: element, to: &references) }
    case .object:
      for member in node.members {
        if member.isNamed(StoredForm.referenceMember), let key = key(member.value) {
          references.append(key)
        } else {
          append(in: member.value, to: &references)
        }
      }
    case .null, .true, .false, .number, .string:
      return
    }
  }

  private static func key(_ reference: JSONNode) -> EntityKey? {
    guard reference.kind == .array else { return nil }
    var parts = reference.elements
    guard let type = parts.next()?.string, let key = parts.next()?.string else { return nil }
    return EntityKey(type: type, key: key)
  }
}
