import Filtering
import GRDB
import Model

/// Tells which entities of a type meet an observer's condition now, and which met it at an earlier revision.
///
/// A condition on an entity's own fields is evaluated on the states themselves. One on related entities is
/// evaluated in the tables, in which every row is replaced by its state at that revision.
struct ObservedStates {
  enum Answer {
    case yes, no
    /// It existed, and its state or that of related entities is not known any more.
    case unknown
  }

  private let test: ConditionTest
  private let condition: FilterCondition
  private let table: EntityTable
  private let scopes: ViewerScopes
  private let catalogue: TypeCatalogue
  private let history: EntityHistoryLoader
  private let database: Database
  /// The tables of related entities; none if the condition is on own fields.
  private let related: [EntityTable]

  init(
    _ observed: ObservedCondition, _ table: EntityTable, scopes: ViewerScopes,
    _ catalogue: TypeCatalogue, _ database: Database
  ) {
    test = ConditionTest(observed)
    condition = observed.filter.condition
    self.table = table
    self.scopes = scopes
    self.catalogue = catalogue
    self.database = database
    history = EntityHistoryLoader(
      database: database, type: table.id, scopes: scopes.layers(of: table))
    related = condition.isOwn ? [] : condition.reachedTypes.sorted().compactMap { catalogue[$0] }
  }

  /// Returns the keys of the entities that meet the condition now.
  ///
  /// - Parameter states: present layers by key; entities without any do not meet it.
  func passing(_ states: [ExactText: [[UInt8]]]) throws -> Set<ExactText> {
    try passing(states, at: nil)
  }

  /// Returns, by key, whether the entities met the condition.
  ///
  /// - Parameter isFirstPage: whether the reader has seen nothing but the state at that revision. What it
  ///   read later of an entity was the state at that time: related entities can have changed between the
  ///   revision that its position has and the one at which it read.
  func answers(
    _ entities: [ExactText: LayeredView], at revision: Int64, isFirstPage: Bool
  ) throws -> [ExactText: Answer] {
    let states = try history.states(of: entities.keys.map(\.text), at: revision)
    var answers: [ExactText: Answer] = [:]
    var known: [ExactText: [[UInt8]]] = [:]
    for (key, layers) in entities {
      switch layers.state(at: revision, history: { states[key]?[$0] ?? .unchanged }) {
      case .absent: answers[key] = .no
      case .unknown: answers[key] = .unknown
      case .fields(let fields): known[key] = fields
      }
    }
    guard try condition.isOwn || (isFirstPage && !isUncertain(at: revision)) else {
      for key in known.keys { answers[key] = .unknown }
      return answers
    }
    if !condition.isOwn {
      for key in try removed(known.keys, states) {
        known[key] = nil
        answers[key] = .unknown
      }
    }
    let passing = try passing(known, at: revision)
    for key in known.keys { answers[key] = passing.contains(key) ? .yes : .no }
    return answers
  }

  /// Returns the entities of which a scope has a former state and no row any more: a purge removes rows, and
  /// the tables join former states to present rows.
  private func removed(
    _ keys: some Collection<ExactText>, _ states: [ExactText: [EntityHistoryLoader.State]]
  ) throws -> [ExactText] {
    let former = keys.filter { states[$0]?.contains(where: \.isFields) == true }
    guard !former.isEmpty else { return [] }
    let statement = try PreparedStatement(
      database,
      """
      SELECT key, scope FROM \(EntityTable.quoted(table.name)) \
      WHERE scope IN (SELECT value FROM json_each(?1)) AND key IN (SELECT value FROM json_each(?2))
      """)
    statement.bind(KeyList.json(numbers: history.scopes), at: 1)
    try statement.bind(KeyList.json(former.lazy.map(\.text)), at: 2)
    defer { statement.reset() }
    var stored: [ExactText: Set<Int64>] = [:]
    while try statement.step() {
      stored[ExactText(statement.string(0)), default: []].insert(statement.int64(1))
    }
    return former.filter { key in
      zip(history.scopes, states[key] ?? []).contains { scope, state in
        state.isFields && stored[key]?.contains(scope) != true
      }
    }
  }

  private func passing(
    _ states: [ExactText: [[UInt8]]], at revision: Int64?
  ) throws -> Set<ExactText> {
    let filled = states.filter { !$0.value.isEmpty }
    let keys = Array(filled.keys)
    guard !keys.isEmpty else { return [] }
    if !condition.isOwn { return try passing(keys, at: revision) }
    let places = try test.passing(keys.map { filled[$0] ?? [] }, database)
    return Set(places.map { keys[$0] })
  }

  // MARK: Related entities

  /// Evaluates the condition in the tables.
  ///
  /// - Parameter revision: nil for the present state.
  private func passing(_ keys: [ExactText], at revision: Int64?) throws -> Set<ExactText> {
    let context = QueryLevel.Context(
      catalogue: catalogue, scopes: VisibleScopes(scopes, database), asOf: revision)
    let subjects = condition.subjects
    let holding = try context.scopes.holding(table)
    let row = VisibleRow(
      table: table, alias: "seen", form: .joined(scopes: holding.ids), scopes: holding,
      named: EntitySource.Needs(subjects, order: .byKey).all, asOf: revision)
    let level = try QueryLevel(row, subjects: subjects, context)
    var sql = BoundSQL()
    sql.append("SELECT wanted.value FROM json_each(")
    sql.append(
      .text(String(decoding: try KeyList.json(keys.lazy.map(\.text)), as: UTF8.self)))
    sql.append(") AS wanted")
    row.appendJoins(on: "wanted.value", isRequired: true, to: &sql)
    try level.appendJoins(to: &sql)
    sql.append(" WHERE \(row.isVisible) AND ")
    try FilterSQL(subjects: level).append(condition, to: &sql)
    let statement = try PreparedStatement(database, once: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    var passing: Set<ExactText> = []
    while try statement.step() { passing.insert(ExactText(statement.string(0))) }
    return passing
  }

  /// Whether some related entity's state at a revision is not known any more: it was purged or evicted since,
  /// stored again, or a tombstone above it was removed.
  private func isUncertain(at revision: Int64) throws -> Bool {
    for table in related {
      let statement = try PreparedStatement(
        database,
        """
        SELECT EXISTS (SELECT 1 FROM past WHERE type = ?1 AND fields IS NULL AND until > ?2 \
        AND scope IN (SELECT value FROM json_each(?3))) \
        OR EXISTS (SELECT 1 FROM json_each(?3) AS layer CROSS JOIN change \
        INDEXED BY change_by_revision ON change.scope = layer.value AND change.revision > ?2 \
        WHERE change.type = ?1 AND (change.lifted > ?2 \
        OR change.kind <> \(ChangeKind.present.rawValue) AND NOT EXISTS (SELECT 1 \
        FROM \(EntityTable.quoted(table.name)) AS stored \
        WHERE stored.scope = change.scope AND stored.key = change.key)))
        """)
      statement.bind(table.id, at: 1)
      statement.bind(revision, at: 2)
      statement.bind(KeyList.json(numbers: scopes.layers(of: table)), at: 3)
      defer { statement.reset() }
      if try statement.step(), statement.int64(0) != 0 { return true }
    }
    return false
  }
}
