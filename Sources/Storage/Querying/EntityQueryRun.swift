import Filtering
import GRDB
import Model

/// The execution of an ``EntityQuery`` in the caller's read transaction: selects the page's keys and
/// positions by SQL, with the rows if one row is the whole entity; otherwise it loads the entities then.
struct EntityQueryRun {
  /// Maximum sections of one list.
  static let sectionsMax = 10_000

  private let database: Database
  private let query: EntityQuery
  private let table: EntityTable
  private let source: EntitySource
  private let level: QueryLevel
  private let touches: TouchLedger
  private let memory: RowMemory?
  private let isSelective: Bool

  /// - Parameters:
  ///   - scopes: the scopes of the entities, narrowest first.
  ///   - relatedScopes: the scopes of the entities that key paths lead to: all that the viewer sees.
  ///   - memory: that of the connection, after it was begun in this transaction.
  ///   - isSelective: whether the filter finds few entities, so that its indexes are better than the order's.
  init(
    _ query: EntityQuery, _ table: EntityTable, scopes: ViewerScopes,
    relatedScopes: ViewerScopes? = nil, isSelective: Bool = false,
    _ catalogue: TypeCatalogue, _ touches: TouchLedger, memory: RowMemory? = nil,
    _ database: Database
  ) throws {
    self.memory = memory
    self.database = database
    self.query = query
    self.table = table
    self.touches = touches
    self.isSelective = isSelective
    let subjects = query.filter?.condition.subjects ?? FilterCondition.Subjects()
    var source = try EntitySource(
      table, needs: EntitySource.Needs(subjects, order: query.order), scopes: scopes,
      database)
    var level = try QueryLevel(
      source.row, subjects: subjects, order: query.order.terms,
      QueryLevel.Context(
        catalogue: catalogue, scopes: VisibleScopes(relatedScopes ?? scopes, database)))
    if source.isPlain, query.members == nil, let filter = query.filter {
      try level.lead(by: filter.condition)
      if !level.leads { source.lead(by: filter.condition) }
    }
    self.source = source
    self.level = level
  }

  func page() throws -> EntityPage {
    var page = try query.limit > 0 ? items() : EntityPage(items: [])
    if query.wantsTotal { page.total = try total() }
    if query.section != nil, let first = query.order.terms.first {
      page.sections = try sections(by: first)
    }
    return page
  }

  /// Returns the positions of the page's entities and of the next one, without their fields.
  func places() throws -> [EntityPosition] {
    var places: [EntityPosition] = []
    try forEachPlace(selectsRows: false) { place, _ in places.append(place) }
    return places
  }

  /// Returns the statement of ``places()``.
  ///
  /// - Parameter selectsRows: whether the last columns are the row's number, its fields and when it was
  ///   received, of one scope's rows. SQLite reads them only for rows that it returns or sorts.
  func placesSQL(selectsRows: Bool = false) throws -> BoundSQL {
    var sql = BoundSQL()
    sql.append("SELECT seen.key")
    for term in query.order.terms { sql.append(", \(try level.value(term))") }
    if isByPlace { sql.append(", member.key") }
    if selectsRows { sql.append(", seen.rowid, seen.fields, seen.received") }
    try appendFiltered(to: &sql)
    if let after = query.after { try append(after: after, to: &sql) }
    try appendOrder(to: &sql)
    sql.append(" LIMIT ")
    sql.append(.integer(Int64(query.limit) + 1))
    if query.offset > 0 {
      sql.append(" OFFSET ")
      sql.append(.integer(Int64(query.offset)))
    }
    return sql
  }

  // MARK: The page

  /// The rows that a page may skip for its fields to be selected with its places: those that are skipped can be
  /// sorted too, with all that is selected.
  private static let skippedMax = 1_000

  private func items() throws -> EntityPage {
    let isOneRow = source.scopes.count == 1 && query.offset <= Self.skippedMax
    var places: [EntityPosition] = []
    var rows: [EntityLoader.FoundRow] = []
    try forEachPlace(selectsRows: isOneRow) { place, row in
      places.append(place)
      if let row { rows.append(row) }
    }
    let hasMore = places.count > query.limit
    if hasMore {
      places.removeLast()
      if isOneRow { rows.removeLast() }
    }
    let records = try isOneRow ? loader.load(rows, from: table) : records(of: places)
    let items = zip(places, records).compactMap { place, record in
      record.map {
        EntityPage.Item(
          key: EntityKey(type: table.type, key: place.key), record: $0, position: place)
      }
    }
    return EntityPage(items: items, next: hasMore ? places.last : nil)
  }

  private var loader: EntityLoader {
    EntityLoader(database, scopes: source.visible, touches, memory: memory)
  }

  private func records(of places: [EntityPosition]) throws -> [EntityRecord?] {
    guard !source.scopes.isEmpty else { return [] }
    return try loader.load(places.map(\.key), from: table).map { $0?.record }
  }

  /// - Parameter body: receives each position, and the entity's row if rows are selected.
  private func forEachPlace(
    selectsRows: Bool, _ body: (EntityPosition, EntityLoader.FoundRow?) -> Void
  ) throws {
    let sql = try placesSQL(selectsRows: selectsRows)
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    let columns = query.order.terms.count + (isByPlace ? 1 : 0)
    let row = Int32(columns + 1)
    while try statement.step() {
      let place = EntityPosition(
        values: (0..<columns).map { statement.value(Int32($0 + 1)) }, key: statement.string(0))
      body(
        place,
        selectsRows
          ? EntityLoader.FoundRow(
            key: place.key, row: statement.int64(row), fields: statement.bytes(row + 1),
            received: Timestamp(milliseconds: statement.int64(row + 2))) : nil)
    }
  }

  /// Whether the order is that of the member list: a query of members without order terms.
  private var isByPlace: Bool { query.members != nil && query.order.terms.isEmpty }

  private func appendFiltered(to sql: inout BoundSQL) throws {
    try source.append(to: &sql, members: query.members, joining: level)
    guard let filter = query.filter else { return }
    sql.append(" AND ")
    try FilterSQL(subjects: level).append(filter.condition, to: &sql)
  }

  private func appendOrder(to sql: inout BoundSQL) throws {
    sql.append(" ORDER BY ")
    if isByPlace { return sql.append("member.key") }
    for term in query.order.terms {
      sql.append("\(try level.value(term))\(term.isDescending ? " DESC" : ""), ")
    }
    sql.append(orderedKey)
  }

  /// The key in the order. An expression keeps SQLite from reading the rows in the order of their keys.
  private var orderedKey: String { isSelective ? "+seen.key" : "seen.key" }

  // MARK: After a position

  /// Appends the condition for entities after a position: later in the first term, or equal there and later
  /// in the next, and so on to the key. NULL precedes every value, as in SQLite.
  private func append(after position: EntityPosition, to sql: inout BoundSQL) throws {
    if isByPlace {
      sql.append(" AND member.key > ")
      return sql.append(position.values.first ?? .integer(-1))
    }
    let terms = query.order.terms
    guard position.values.count == terms.count else { return sql.append(" AND 0") }
    // Redundant, but only this condition lets SQLite start an index scan at the position.
    if let first = terms.first, !first.isDescending, let value = position.values.first,
      value != .null
    {
      sql.append(" AND \(try level.value(first)) >= ")
      sql.append(value)
    }
    sql.append(" AND (")
    for (index, term) in terms.enumerated() {
      for before in 0..<index {
        sql.append("\(try level.value(terms[before])) IS ")
        sql.append(position.values[before])
        sql.append(" AND ")
      }
      try append(after: position.values[index], term, to: &sql)
      sql.append(" OR ")
    }
    for (term, value) in zip(terms, position.values) {
      sql.append("\(try level.value(term)) IS ")
      sql.append(value)
      sql.append(" AND ")
    }
    sql.append("\(orderedKey) > ")
    sql.append(.text(position.key))
    sql.append(")")
  }

  private func append(
    after value: FilterValue, _ term: EntityOrder.Term, to sql: inout BoundSQL
  ) throws {
    let column = try level.value(term)
    switch (value, term.isDescending) {
    case (.null, false): sql.append("\(column) IS NOT NULL")
    case (.null, true): sql.append("0")
    case (_, false):
      sql.append("\(column) > ")
      sql.append(value)
    case (_, true):
      sql.append("(\(column) < ")
      sql.append(value)
      sql.append(" OR \(column) IS NULL)")
    }
  }

  // MARK: The whole list

  private func total() throws -> Int {
    var sql = BoundSQL()
    sql.append("SELECT count(*)")
    try appendFiltered(to: &sql)
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  private func sections(by term: EntityOrder.Term) throws -> [EntityPage.Section] {
    let column = try level.value(term)
    var sql = BoundSQL()
    sql.append("SELECT \(column), count(*)")
    try appendFiltered(to: &sql)
    sql.append(" GROUP BY \(column) ORDER BY \(column)\(term.isDescending ? " DESC" : "")")
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    var sections: [EntityPage.Section] = []
    var offset = 0
    while try statement.step() {
      guard sections.count < Self.sectionsMax else { throw StorageError.tooCostly }
      let count = Int(statement.int64(1))
      sections.append(
        EntityPage.Section(
          name: statement.isNull(0) ? nil : statement.string(0), offset: offset, count: count))
      offset += count
    }
    return sections
  }
}

extension EntitySource.Needs {
  /// What an order and a condition need of the entities' own rows.
  init(_ subjects: FilterCondition.Subjects, order: EntityOrder) {
    self.init()
    for path in order.terms.flatMap(\.paths) + subjects.paths {
      if let hop = path.hops.first {
        add(hop: hop)
      } else if path.isList {
        add(list: path.field)
      } else if !path.isOfScalars {
        add(value: path.field)
      }
    }
    for list in subjects.scalars {
      if let hop = list.hops.first {
        add(hop: hop)
        add(state: hop.field)
      } else {
        add(scalars: list.field)
        add(state: list.field)
      }
    }
    for path in subjects.statePaths where !path.isList || !path.hops.isEmpty {
      add(state: path.hops.first?.field ?? path.field)
    }
    for members in subjects.members {
      if let hop = members.hops.first {
        add(hop: hop)
        add(state: hop.field)
      } else if members.link == nil {
        add(list: members.field, of: members.narrowedType)
      }
    }
  }
}
