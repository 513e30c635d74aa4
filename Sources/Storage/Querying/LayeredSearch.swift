import Filtering
import GRDB
import Model

/// A search over entities with rows in several scopes: every word must occur in a field as the viewer sees
/// it, whichever scope's row that field comes from.
///
/// An entity without a row in a narrower scope is ranked by its row in the widest one, as in a search of one scope. Of
/// the others, one that matches has a word in a narrower row, or every word in the widest. So these are found by the
/// index, and then matched by their visible texts, each field from the narrowest row that has it
/// (``SearchMatcher``). Price: a few look-ups for each row that is found, and each such entity's texts.
struct LayeredSearch {
  private static let keysMax = 500

  let database: Database
  let index: SearchIndex
  /// Narrowest first, two at least.
  let scopes: [Int64]
  let text: SearchText
  /// The terms in FTS5's query syntax.
  let terms: [String]

  /// Returns the best matches, best first.
  func best(_ count: Int) throws -> SearchRun.Ranking {
    let widest = try SearchCandidates(
      of: terms.joined(separator: " "), in: index, scopes: scopes.suffix(1), database)
    var isComplete = widest.isComplete
    var keys: Set<ExactText> = []
    var alone: [SearchCandidates.Row] = []
    let places = try RowPlaces(index.table, narrower: scopes.dropLast(), database)
    for row in widest.rows {
      guard let place = try places.place(of: row.number) else { continue }
      if place.isCovered { keys.insert(ExactText(place.key)) } else { alone.append(row) }
    }
    for scope in scopes.dropLast() {
      // Of each scope by itself: a device's few rows are found next to the many of a role.
      let rows = try SearchCandidates(
        of: terms.joined(separator: " OR "), in: index, scopes: [scope], database)
      isComplete = isComplete && rows.isComplete
      for row in rows.rows {
        if let place = try places.place(of: row.number) { keys.insert(ExactText(place.key)) }
      }
    }
    let found = try combined(keys) + SearchRun.best(count, of: alone, places, index.table)
    return SearchRun.Ranking(
      found: Array(found.sorted(by: SearchRun.isBefore).prefix(count)), isComplete: isComplete)
  }

  /// Returns the entities of keys that match by the texts that the viewer sees.
  private func combined(_ keys: Set<ExactText>) throws -> [SearchRun.Found] {
    let matcher = try SearchMatcher(text, database)
    var found: [SearchRun.Found] = []
    var rest = Array(keys)[...]
    while !rest.isEmpty {
      try add(rest.prefix(Self.keysMax), matcher, to: &found)
      rest = rest.dropFirst(Self.keysMax)
    }
    return found
  }

  private func add(
    _ keys: ArraySlice<ExactText>, _ matcher: SearchMatcher, to found: inout [SearchRun.Found]
  ) throws {
    let row = VisibleRow(table: index.table, alias: "layer", form: .joined(scopes: scopes))
    let fields = index.fields.map { row.stored($0) }
    var sql = BoundSQL()
    sql.append("SELECT wanted.value")
    for field in fields { sql.append(", \(field.value), \(field.row)") }
    sql.append(" FROM json_each(")
    sql.append(.text(String(decoding: try KeyList.json(keys.lazy.map(\.text)), as: UTF8.self)))
    sql.append(") AS wanted")
    row.appendJoins(on: "wanted.value", to: &sql)
    sql.append(" WHERE \(row.isVisible)")
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    while try statement.step() {
      let texts = fields.indices.map { statement.text(Int32(1 + 2 * $0)) }
      guard let match = try matcher.match(texts) else { continue }
      found.append(
        SearchRun.Found(
          row: statement.int64(Int32(2 + 2 * match.field)), field: match.field,
          key: EntityKey(type: index.table.type, key: statement.string(0)), score: match.score))
    }
  }
}

/// The keys of table rows, and whether the viewer has a narrower row of the same entity.
struct RowPlaces {
  struct Place {
    let key: String
    let isCovered: Bool
  }

  private let statement: PreparedStatement
  /// The index of the parameter for the row number; those before it are the scopes.
  private let rowParameter: Int32

  /// - Parameter scopes: the narrower scopes; none if the rows are those of the only scope.
  init(_ table: EntityTable, narrower scopes: some Collection<Int64>, _ database: Database) throws {
    let name = EntityTable.quoted(table.name)
    let numbers = scopes.indices.map { _ in "?" }.joined(separator: ", ")
    let covered = """
      EXISTS (SELECT 1 FROM \(name) AS above WHERE above.scope IN (\(numbers)) AND above.key = seen.key)
      """
    statement = try PreparedStatement(
      database,
      shaped: """
        SELECT seen.key, \(scopes.isEmpty ? "0" : covered) FROM \(name) AS seen WHERE seen.rowid = ?
        """)
    rowParameter = Int32(scopes.count + 1)
    for (index, scope) in scopes.enumerated() { statement.bind(scope, at: Int32(index + 1)) }
  }

  /// Returns the place of a row; nil if there is no such row.
  func place(of row: Int64) throws -> Place? {
    statement.bind(row, at: rowParameter)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Place(key: statement.string(0), isCovered: statement.int64(1) != 0)
  }
}
