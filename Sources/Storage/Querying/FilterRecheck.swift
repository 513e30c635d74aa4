import GRDB
import Model

/// Brings what ``FilterMatches`` found up to date inside the write's transaction.
///
/// What has not changed since the reader's snapshot is what the filter was tried on. What has, by other
/// writes or by earlier ones of the same list, stands in the change log behind the snapshot's revision,
/// and the filter is tried on these rows alone, in a short time: few rows change in the moment between
/// the two, and of a list's own writes there are no more than it says.
///
/// Also keeps the time of the whole list: what a stored row costs to change is not for its request to say.
final class FilterRecheck {
  /// What other writers wait for the filters of one list at most.
  static let filterTimeMax = Duration.seconds(1)
  /// What they wait for one list at most.
  static let timeMax = Duration.seconds(5)
  /// Changed rows of one filter.
  static let rowsMax = 10_000
  /// Contents that are judged at a time.
  private static let batchBytesMax = 1 << 20

  private let matches: FilterMatches
  private let context: WriteContext
  private let deadline: QueryDeadline?
  /// From the list's beginning inside the transaction.
  private let watch: QueryWatch?
  /// From the first filter on.
  private lazy var filterWatch = deadline?.with(limit: Self.filterTimeMax).begin()
  private var found = 0

  /// - Parameter matches: none for writes without filters.
  init(_ matches: FilterMatches, _ context: WriteContext, deadline: QueryDeadline? = nil) {
    self.matches = matches
    self.context = context
    self.deadline = deadline
    watch = deadline?.with(limit: Self.timeMax).begin()
  }

  /// - Throws: ``StorageError/tooCostly`` where the list has held the writer for long enough.
  func checkTime() throws(StorageError) {
    if watch?.isOver == true { throw .tooCostly }
  }

  /// - Parameters:
  ///   - place: of the write in its list; what the list has written by then is in the database.
  ///   - mayVanish: rows of the type can go without a word in the change log: by eviction.
  func keys(
    of place: Int, _ type: EntityType, _ filter: Filter, scope: Int64, mayVanish: Bool,
    pointer: String
  ) throws -> [String] {
    let table = try context.table(of: type.name)
    let changed = try changedKeys(table, scope: scope)
    var keys = matches.keys[place] ?? []
    if !changed.isEmpty {
      let all = Set(changed)
      keys.removeAll { all.contains($0) }
    }
    if mayVanish, !keys.isEmpty { keys = try present(keys, table, scope: scope) }
    if !changed.isEmpty { keys += try passing(changed, type, filter, table, scope: scope) }
    found += keys.count
    guard found <= FilterMatches.entitiesMax else {
      throw WriteRefusal.tooMany(max: FilterMatches.entitiesMax, pointer: pointer)
    }
    return keys
  }

  private func changedKeys(_ table: EntityTable, scope: Int64) throws -> [String] {
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

  private func watched<Answer>(_ body: () throws -> Answer) throws -> Answer {
    guard let watch = filterWatch else { return try body() }
    // Between batches nothing else looks.
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
