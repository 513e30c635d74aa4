import Filtering
import GRDB
import Model

/// Builds one page of the change log, inside the caller's read transaction.
struct ChangeLogReader {
  /// Limit of rows examined for one page: a reader who wants few of many rows gets short pages
  /// instead of a long transaction.
  static let rowsMax = 10_000
  /// Rows read at a time.
  private static let stretch = 256

  private let database: Database
  private let catalogue: TypeCatalogue
  private let query: ChangeQuery
  private let scopes: ViewerScopes
  private let touches: TouchLedger
  private let head: Int64
  private let floor: Int64
  private let origin: LogOrigin
  /// By the names of types whose conditions are about related entities.
  private let reaches: [String: RelatedReach]

  init(
    _ database: Database, _ catalogue: TypeCatalogue, _ query: ChangeQuery, scopes: ViewerScopes,
    _ touches: TouchLedger
  ) throws {
    self.touches = touches
    self.database = database
    self.catalogue = catalogue
    self.query = query
    self.scopes = scopes
    let statement = try PreparedStatement(
      database, "SELECT revision, floor FROM counter WHERE id = 1")
    defer { statement.reset() }
    guard try statement.step() else { throw StorageError.corrupt("the counter row is missing") }
    head = statement.int64(0)
    floor = statement.int64(1)
    origin = query.origin ?? .snapshot(start: Revision(statement.int64(0)))
    reaches = query.conditions.reduce(into: [:]) { reaches, observed in
      let condition = observed.value.filter.condition
      guard !condition.isOwn, let table = catalogue[observed.key] else { return }
      reaches[observed.key] = RelatedReach(condition, table, scopes: scopes, catalogue, database)
    }
  }

  /// - Returns: nil if deletions after the position have been forgotten, or too little is known of what
  ///   related entities were.
  func page() throws -> ChangePage? {
    guard isAboveFloor, try isHistoryKnown() else { return nil }
    guard var last = query.position.row else {
      throw StorageError.failed(code: 0, message: "the position is not one of the change log")
    }
    var entries: [ChangePage.Entry] = []
    var bytes = 0
    var seen = 0
    let scan = ChangeScan(database, scopes: scopes.all)
    if let concerned = query.position.concerned, let row = try scan.row(at: last) {
      // The rest of what this change concerns.
      guard let rest = try self.entries(of: [row], after: concerned, limit: query.limit) else {
        return nil
      }
      entries = rest.entries
      if let end = rest.end { return page(entries, next: row.inside(end), isComplete: false) }
    }
    // The rows of a round: more and more while none has an entry, or a small limit would cost many rounds.
    var size = 0
    while true {
      if entries.count >= query.limit {
        return page(
          entries,
          next: LogPosition(revision: last.revision, type: last.type, key: last.key),
          isComplete: false)
      }
      let limit = min(Self.stretch, query.limit - entries.count)
      // One row more than is used shows whether the page ends inside a revision.
      let count = max(limit, size)
      let rows = scopes.isEmpty ? [] : try scan.rows(after: last, limit: count + 1)
      var stretch = rows.prefix(count)
      var found = try self.entries(of: Array(stretch), limit: limit)
      // A change that concerns many entities is the last one of its page.
      while let many = found, many.end != nil || many.entries.count > limit, stretch.count > 1 {
        stretch = stretch.prefix(stretch.count / 2)
        found = try self.entries(of: Array(stretch), limit: limit)
      }
      guard let found else { return nil }
      size = found.entries.isEmpty ? min(Self.stretch, count * 2) : 0
      entries += found.entries
      if let end = found.end, let row = stretch.first {
        return page(entries, next: row.inside(end), isComplete: false)
      }
      bytes += found.bytes
      seen += stretch.count
      guard rows.count > stretch.count, let end = stretch.last else {
        return try lastPage(entries, bytes: bytes)
      }
      last = end.place
      if entries.count >= query.limit || bytes >= query.bytesMax || seen >= Self.rowsMax {
        let isInside = rows[stretch.count].revision == end.revision
        return page(
          entries,
          next: isInside
            ? LogPosition(revision: end.revision, type: end.type, key: end.key)
            : LogPosition(revision: Revision(end.revision)),
          isComplete: false)
      }
    }
  }

  /// The page that ends the log, with what enters and leaves the conditions by the passing of time.
  private func lastPage(_ entries: [ChangePage.Entry], bytes: Int) throws -> ChangePage {
    let next = LogPosition(revision: Revision(head))
    guard let step = query.step else { return page(entries, next: next, isComplete: true) }
    let found = try ClockSweep(
      step: step, query: query, scopes: scopes, catalogue: catalogue, touches: touches,
      head: head, database: database
    ).entries(limit: query.limit - entries.count, bytes: bytes)
    let swept = Set(found.entries.map(\.key))
    var last = page(
      entries.filter { !swept.contains($0.key) } + found.entries, next: next,
      isComplete: found.progress == .done)
    last.step = found.progress
    return last
  }

  private func page(
    _ entries: [ChangePage.Entry], next: LogPosition, isComplete: Bool
  ) -> ChangePage {
    ChangePage(
      entries: entries, next: next, readingOrigin: origin, isComplete: isComplete,
      head: Revision(head))
  }

  /// Whether no deletion that the reader needs was forgotten. A deletion at the floor's own
  /// revision can have been. A snapshot only needs deletions of entities it can have reported,
  /// which are after its start.
  private var isAboveFloor: Bool {
    switch origin {
    case .snapshot(let start): return start.value >= floor
    case .delta:
      let position = query.position
      return position.revision.value > floor
        || (position.revision.value == floor && position.place.isEmpty)
    }
  }

  /// Whether the entity history reaches back to the origin: with a condition it decides which
  /// entities entered the condition.
  private func isHistoryKnown() throws -> Bool {
    guard case .delta(let base) = origin else { return true }
    let related = reaches.values.reduce(into: Set<Int64>()) { $0.formUnion($1.types) }
    let own = query.conditions.keys.compactMap { catalogue[$0]?.id }
    return try related.union(own).allSatisfy { type in
      let history = EntityHistoryLoader(database: database, type: type, scopes: scopes.all)
      return try history.since().map { $0 <= base.value } ?? false
    }
  }

  // MARK: Entries

  fileprivate struct Found {
    var entries: [ChangePage.Entry] = []
    /// The bytes of their contents.
    var bytes = 0
    /// The last key of those that the rows concern, if they concern more entities.
    var end: String?
  }

  fileprivate struct Seen {
    let key: EntityKey
    let revision: Int64
    let state: ChangePage.VisibleState
  }

  /// Returns the entries of a section of the log: those of its rows, and those of entities that changes of
  /// related ones concern.
  ///
  /// - Parameters:
  ///   - after: of what a single row concerns, only entities with later keys, and without its own entry.
  ///   - limit: of the entities that related ones concern.
  /// - Returns: nil if too little is known of the related entities.
  private func entries(
    of rows: [ChangeRow], after: String? = nil, limit: Int
  ) throws -> Found? {
    var found = Found()
    var states: [Int64: [ExactText: Seen]] = [:]
    let byType = Dictionary(grouping: after == nil ? rows : [], by: \.type)
    // A single row can have an entry of its own too.
    let isOwn = rows.count == 1 && byType.keys.contains(where: isReported)
    guard
      let touched = try touched(by: rows, after: after, limit: isOwn ? limit - 1 : limit)
    else { return nil }
    found.end = touched.end
    for type in Set(byType.keys).union(touched.keys.keys) {
      guard isReported(type), let table = catalogue[id: type] else { continue }
      states[type] = try self.states(
        of: byType[type] ?? [], touched: touched.keys[type] ?? [:], in: table)
    }
    for row in rows {
      guard let seen = states[row.type]?[ExactText(row.key)], seen.revision == row.revision else {
        continue
      }
      states[row.type]?[ExactText(row.key)] = nil
      found.add(seen)
    }
    let others = states.values.flatMap(\.values)
    guard !others.isEmpty else { return found }
    for seen in others { found.add(seen) }
    found.entries.sort(by: Self.isBefore)
    return found
  }

  private func isReported(_ type: Int64) -> Bool {
    catalogue[id: type].map { query.types?.contains($0.type) ?? true } ?? false
  }

  /// The order of the log; of entities that one change concerns that of their keys.
  private static func isBefore(_ left: ChangePage.Entry, _ right: ChangePage.Entry) -> Bool {
    if left.revision != right.revision { return left.revision < right.revision }
    return left.key.key.precedesExactly(right.key.key)
  }

  /// The entities that changes of related ones concern, by type number, with the revisions of these; and
  /// the last key if there are more.
  private typealias Touched = (keys: [Int64: [ExactText: Int64]], end: String?)

  /// - Returns: nil if too little is known.
  private func touched(
    by rows: [ChangeRow], after: String?, limit: Int
  ) throws -> Touched? {
    var all: [(type: Int64, key: String, revision: Int64)] = []
    var end: String?
    for (name, reach) in reaches {
      let changes = changes(in: rows, of: reach.types)
      guard let id = catalogue[name]?.id, !changes.isEmpty else { continue }
      switch try reach.entities(concernedBy: changes, after: after, limit: limit) {
      case .unknown: return nil
      case .entities(let entities, let isCut):
        all += entities.map { (id, $0.key, $0.revision) }
        guard isCut else { continue }
        let last = entities.last?.key ?? after ?? ""
        end = end.map { $0.precedesExactly(last) ? $0 : last } ?? last
      }
    }
    // Entities of several types are cut at the same key.
    all.sort { $0.key.precedesExactly($1.key) }
    if all.count > limit {
      let last = limit > 0 ? all[limit - 1].key : after ?? ""
      end = end.map { $0.precedesExactly(last) ? $0 : last } ?? last
    }
    var keys: [Int64: [ExactText: Int64]] = [:]
    for entity in all where end.map({ !$0.precedesExactly(entity.key) }) ?? true {
      keys[entity.type, default: [:]][ExactText(entity.key)] = entity.revision
    }
    return (keys, end)
  }

  /// The changes that can concern other entities: of a snapshot only those since its start, since all
  /// else was read later.
  private func changes(in rows: [ChangeRow], of types: Set<Int64>) -> RelatedReach.Changes {
    let base =
      switch origin {
      case .delta(let base): base.value
      case .snapshot(let start): start.value
      }
    var changes = RelatedReach.Changes(base: base)
    for row in rows where row.revision > base && types.contains(row.type) {
      let known = changes.keys[row.type]?[ExactText(row.key)] ?? 0
      changes.keys[row.type, default: [:]][ExactText(row.key)] = max(known, row.revision)
    }
    return changes
  }

  // MARK: States

  /// Returns the entries by key; entities with nothing to report are absent.
  ///
  /// - Parameter touched: entities that changes of related ones concern, with the revisions of these.
  private func states(
    of rows: [ChangeRow], touched: [ExactText: Int64], in table: EntityTable
  ) throws -> [ExactText: Seen] {
    let loader = ViewLoader(database, catalogue, scopes: scopes)
    var all = try loader.views(of: rows, in: table)
    if !touched.isEmpty {
      let others = touched.keys.filter { all[$0] == nil }
      all.merge(try loader.views(ofKeys: others, in: table)) { own, _ in own }
    }
    var revisions: [ExactText: Int64] = [:]
    // If the entity changed later in another scope, only that later row reports it.
    for row in rows where all[ExactText(row.key)]?.revision == row.revision {
      revisions[ExactText(row.key)] = row.revision
    }
    // The same if it changed itself after the related one.
    for (key, revision) in touched {
      guard let view = all[key], revision >= view.revision ?? 0 else { continue }
      revisions[key] = revision
    }
    let views = all.filter { revisions[$0.key] != nil }
    let states: [ExactText: ChangePage.VisibleState]
    if let condition = query.conditions[table.type] {
      states = try self.states(of: views, touched: Set(touched.keys), condition, in: table)
    } else {
      states = views.compactMapValues(state)
    }
    return states.reduce(into: [:]) { seen, entity in
      seen[entity.key] = Seen(
        key: EntityKey(type: table.type, key: entity.key.text),
        revision: revisions[entity.key] ?? 0, state: entity.value)
    }
  }

  /// Returns the states of entities of a type that has a condition. While a ``ClockStep`` is being taken, the
  /// reader has some of them as they are at the later time.
  private func states(
    of views: [ExactText: LayeredView], touched: Set<ExactText>, _ condition: ObservedCondition,
    in table: EntityTable
  ) throws -> [ExactText: ChangePage.VisibleState] {
    let later = query.step?.conditions[table.type]
    let isLater = { (key: ExactText) in
      later != nil && query.step?.includes(type: table.type, key: key) == true
    }
    var states: [ExactText: ChangePage.VisibleState] = [:]
    for (condition, views) in [
      (condition, views.filter { !isLater($0.key) }),
      (later ?? condition, views.filter { isLater($0.key) }),
    ] {
      let conditional = ConditionalViews(
        ObservedStates(condition, table, scopes: scopes, catalogue, database), origin: origin,
        position: query.position)
      states.merge(try conditional.states(of: views, touched: touched)) { one, _ in one }
    }
    return states
  }

  /// Returns the state to report; nil if there is nothing to report.
  private func state(of layers: LayeredView) -> ChangePage.VisibleState? {
    let contents = layers.contents
    if contents.isEmpty {
      if case .snapshot(let start) = origin, (layers.revision ?? 0) <= start.value { return nil }
      return layers.reasonGone.map { .gone($0) }
    }
    let isNew =
      switch origin {
      case .snapshot: true
      case .delta(let base):
        // The entity can have been deleted, and reported as deleted, since the reading began.
        !layers.wasPresent(at: base.value)
          || !layers.wasPresent(at: query.position.revision.value)
      }
    return .present(EntityRecord(layers: contents), isNew: isNew)
  }
}

extension ChangeLogReader.Found {
  fileprivate mutating func add(_ seen: ChangeLogReader.Seen) {
    if case .present(let record, _) = seen.state {
      bytes += record.layers.reduce(0) { $0 + $1.count }
    }
    entries.append(
      ChangePage.Entry(key: seen.key, revision: Revision(seen.revision), state: seen.state))
  }
}
