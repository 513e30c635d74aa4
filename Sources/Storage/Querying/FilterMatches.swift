import Filtering
import GRDB
import Model

/// The entities that match the filters of a list of writes, found on a reader before the write begins.
///
/// A caller's filter is never evaluated over a table inside a write: all other writes would wait for it.
/// The write evaluates it again only for rows changed since the reader's snapshot (``FilterRecheck``).
struct FilterMatches: Sendable {
  /// Maximum entities that the filters of one list can match together.
  static let entitiesMax = 10_000

  struct Search: Sendable {
    /// The index of the write in its list.
    let place: Int
    let type: EntityType
    let filter: Filter
    /// The scope of the entities that are written; nil if these are all that the viewer sees, whose local
    /// fields are written.
    let scope: Scope?
    /// The scopes of the entities that key paths lead to: those that the writer sees.
    let viewer: Viewer
    let pointer: String
  }

  /// The last revision that the reader saw.
  let revision: Int64
  /// The matching keys by the index of the write in its list.
  let keys: [Int: [String]]

  static let none = FilterMatches(revision: 0, keys: [:])
}

extension Store {
  /// Finds the entities of all filters in one snapshot, within one deadline.
  func matches(
    _ searches: [FilterMatches.Search], lane: QueryLane, within deadline: QueryDeadline?
  ) async throws(StorageError) -> Result<FilterMatches, WriteRefusal> {
    guard !searches.isEmpty else { return .success(.none) }
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await queries.read(lane, within: deadline) { database in
      let revision = try Int64.fetchOne(database, sql: "SELECT revision FROM counter WHERE id = 1")
      var keys: [Int: [String]] = [:]
      var left = FilterMatches.entitiesMax
      for search in searches {
        guard let table = catalogue[search.type.name] else { continue }
        let related = try ViewerScopes(search.viewer, catalogue) {
          try directory.id(of: $0, database)
        }
        var scopes = related
        if let own = search.scope {
          guard let scope = try directory.id(of: own, database) else { continue }
          scopes = [scope]
        }
        let run = try EntityQueryRun(
          EntityQuery(type: search.type, filter: search.filter, limit: left), table,
          scopes: scopes, relatedScopes: related, catalogue, touches, database)
        let found = try run.places().map(\.key)
        guard found.count <= left else {
          return .failure(
            .tooMany(max: FilterMatches.entitiesMax, pointer: search.pointer))
        }
        left -= found.count
        keys[search.place] = found
      }
      return .success(FilterMatches(revision: revision ?? 0, keys: keys))
    }
  }
}

/// Updates ``FilterMatches`` inside the write's transaction.
///
/// Rows that have not changed since the reader's snapshot keep their result. Rows changed since, by other
/// writes or by earlier writes of the same list, are in the change log after the snapshot's revision; the
/// filter is evaluated again on these only. That is fast: few rows change between the snapshot and the
/// transaction, and the list bounds its own writes. A filter about related entities can also be met or no
/// longer met because one of these changed: then it is evaluated whole, within the filters' time.
///
/// Also enforces the time limit of the whole list: the cost of changing a stored row does not depend on the
/// size of the request.
final class FilterRecheck {
  /// The longest time that other writers wait for the filters of one list.
  static let filterTimeMax = Duration.seconds(1)
  /// The longest time that other writers wait for one list.
  static let timeMax = Duration.seconds(5)
  /// Maximum changed rows for one filter.
  static let rowsMax = 10_000
  /// Bytes of fields that are evaluated together.
  private static let batchBytesMax = 1 << 20

  let matches: FilterMatches
  let context: WriteContext
  private let deadline: QueryDeadline?
  private let viewer: Viewer
  /// Measures from the start of the list inside the transaction.
  private let watch: QueryWatch?
  /// Measures from the first filter.
  private lazy var filterWatch = deadline?.with(limit: Self.filterTimeMax).begin()
  private var found = 0

  /// - Parameters:
  ///   - matches: ``FilterMatches/none`` for writes without filters.
  ///   - viewer: the scopes of the entities that key paths lead to.
  init(
    _ matches: FilterMatches, _ context: WriteContext, viewer: Viewer = Viewer(layers: []),
    deadline: QueryDeadline? = nil
  ) {
    self.viewer = viewer
    self.matches = matches
    self.context = context
    self.deadline = deadline
    watch = deadline?.with(limit: Self.timeMax).begin()
  }

  /// - Throws: ``StorageError/tooCostly`` if the list has exceeded its time in the transaction.
  func checkTime() throws(StorageError) {
    if watch?.isOver == true { throw .tooCostly }
  }

  /// Returns the keys that match a filter now.
  ///
  /// - Parameters:
  ///   - place: the index of the write in its list; earlier writes of the list are in the database.
  ///   - canBeEvicted: whether rows of the type can be evicted, which the change log does not report.
  func keys(
    of place: Int, _ type: EntityType, _ filter: Filter, scope: Int64, canBeEvicted: Bool,
    pointer: String
  ) throws -> [String] {
    let table = try context.table(of: type.name)
    if try hasRelatedChange(filter) {
      let keys = try matching(filter, type, table, scopes: [scope], members: nil)
      return try counted(keys, pointer)
    }
    let changed = try changedKeys(table, scope: scope)
    var keys = matches.keys[place] ?? []
    if !changed.isEmpty {
      let all = Set(changed)
      keys.removeAll { all.contains($0) }
    }
    if canBeEvicted, !keys.isEmpty { keys = try present(keys, table, scope: scope) }
    if !changed.isEmpty {
      keys +=
        filter.condition.isOwn
        ? try passing(changed, type, filter, table, scope: scope)
        : try matching(filter, type, table, scopes: [scope], members: changed)
    }
    return try counted(keys, pointer)
  }

  func counted(_ keys: [String], _ pointer: String) throws -> [String] {
    found += keys.count
    guard found <= FilterMatches.entitiesMax else {
      throw WriteRefusal.tooMany(max: FilterMatches.entitiesMax, pointer: pointer)
    }
    return keys
  }

  // MARK: Related entities

  /// Whether an entity that key paths can lead to changed since the snapshot, or was written by an earlier
  /// write of the list.
  func hasRelatedChange(_ filter: Filter) throws -> Bool {
    guard !filter.condition.isOwn else { return false }
    let scopes = try relatedScopes().all
    for name in filter.reachedTypes.sorted() {
      guard let table = context.catalogue[name] else { continue }
      for scope in scopes {
        let statement = try PreparedStatement(
          context.database,
          "SELECT 1 FROM change WHERE scope = ?1 AND revision > ?2 AND type = ?3 LIMIT 1")
        statement.bind(scope, at: 1)
        statement.bind(matches.revision, at: 2)
        statement.bind(table.id, at: 3)
        defer { statement.reset() }
        if try statement.step() { return true }
      }
    }
    return false
  }

  /// The scopes that the writer sees.
  func relatedScopes() throws -> ViewerScopes {
    try ViewerScopes(viewer, context.catalogue) { try ScopeTable.find($0, context.database) }
  }

  /// Evaluates a filter in the transaction, on all entities or on some.
  func matching(
    _ filter: Filter, _ type: EntityType, _ table: EntityTable, scopes: ViewerScopes,
    members: [String]?
  ) throws -> [String] {
    let related = try relatedScopes()
    let limit = FilterMatches.entitiesMax
    let run = try EntityQueryRun(
      EntityQuery(type: type, filter: filter, members: members, limit: limit), table,
      scopes: scopes, relatedScopes: related, context.catalogue, context.memory.touches,
      context.database)
    return try watched { try run.places().map(\.key) }
  }

  func changedKeys(_ table: EntityTable, scope: Int64) throws -> [String] {
    let statement = try PreparedStatement(
      context.database,
      "SELECT key FROM change WHERE scope = ?1 AND revision > ?2 AND type = ?3 LIMIT ?4")
    statement.bind(scope, at: 1)
    statement.bind(matches.revision, at: 2)
    statement.bind(table.id, at: 3)
    statement.bind(Int64(Self.rowsMax) + 1, at: 4)
    defer { statement.reset() }
    var keys: [String] = []
    while try statement.step() { keys.append(statement.string(0)) }
    guard keys.count <= Self.rowsMax else { throw StorageError.tooCostly }
    return keys
  }

  private func present(_ keys: [String], _ table: EntityTable, scope: Int64) throws -> [String] {
    var present: [String] = []
    try forEachRow(of: keys, table, scope: scope, columns: "seen.key") {
      present.append($0.string(0))
    }
    return present
  }

  private func passing(
    _ keys: [String], _ type: EntityType, _ filter: Filter, _ table: EntityTable, scope: Int64
  ) throws -> [String] {
    let test = ConditionTest(ObservedCondition(type: type, filter: filter))
    var passing: [String] = []
    var batch: [(key: String, fields: [UInt8])] = []
    var bytes = 0
    func judge() throws {
      let states = batch.map { [$0.fields] }
      let places = try watched { try test.passing(states, context.database) }
      passing += places.sorted().map { batch[$0].key }
      batch = []
      bytes = 0
    }
    try forEachRow(of: keys, table, scope: scope, columns: "seen.key, seen.fields") { row in
      guard let fields = row.bytes(1) else { return }
      batch.append((row.string(0), fields))
      bytes += fields.count
      if bytes >= Self.batchBytesMax { try judge() }
    }
    try judge()
    return passing
  }

  func watched<Value>(_ body: () throws -> Value) throws -> Value {
    guard let watch = filterWatch else { return try body() }
    // Nothing else checks the time between batches.
    guard !watch.isOver else { throw StorageError.tooCostly }
    return try watch.run(
      QueryConnection(database: context.database, slot: context.memory.watchSlot), body)
  }

  private func forEachRow(
    of keys: [String], _ table: EntityTable, scope: Int64, columns: String,
    _ body: (PreparedStatement) throws -> Void
  ) throws {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT \(columns) FROM json_each(?1) AS member \
      CROSS JOIN \(EntityTable.quoted(table.name)) AS seen \
      ON seen.scope = ?2 AND seen.key = member.value WHERE seen.fields IS NOT NULL
      """)
    statement.bind(try KeyList.json(keys), at: 1)
    statement.bind(scope, at: 2)
    defer { statement.reset() }
    while try statement.step() { try body(statement) }
  }
}
