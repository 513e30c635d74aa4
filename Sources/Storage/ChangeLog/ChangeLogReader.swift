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
  private let head: Int64
  private let floor: Int64
  private let origin: LogOrigin

  init(
    _ database: Database, _ catalogue: TypeCatalogue, _ query: ChangeQuery, scopes: ViewerScopes
  ) throws {
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
  }

  /// - Returns: nil if deletions after the position have been forgotten.
  func page() throws -> ChangePage? {
    guard isAboveFloor, try isHistoryKnown() else { return nil }
    guard var last = query.position.row else {
      throw StorageError.failed(code: 0, message: "the position is not one of the change log")
    }
    var entries: [ChangePage.Entry] = []
    var bytes = 0
    var seen = 0
    let scan = ChangeScan(database, scopes: scopes.all)
    while true {
      let limit = min(Self.stretch, query.limit - entries.count)
      // One row more than is used shows whether the page ends inside a revision.
      let rows = scopes.isEmpty ? [] : try scan.rows(after: last, limit: limit + 1)
      let stretch = rows.prefix(limit)
      bytes += try append(Array(stretch), to: &entries)
      seen += stretch.count
      guard rows.count > limit, let end = stretch.last else {
        return page(entries, next: LogPosition(revision: Revision(head)), isComplete: true)
      }
      last = end.place
      if entries.count >= query.limit || bytes >= query.bytesMax || seen >= Self.rowsMax {
        let isInside = rows[limit].revision == end.revision
        return page(
          entries,
          next: isInside
            ? LogPosition(revision: end.revision, type: end.type, key: end.key)
            : LogPosition(revision: Revision(end.revision)),
          isComplete: false)
      }
    }
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
    return try query.conditions.keys.allSatisfy { name in
      guard let table = catalogue[name] else { return true }
      let history = EntityHistoryLoader(
        database: database, type: table.id, scopes: scopes.layers(of: table))
      return try history.since().map { $0 <= base.value } ?? false
    }
  }

  // MARK: Entries

  /// - Returns: the bytes of the contents that were added.
  private func append(
    _ rows: [ChangeRow], to entries: inout [ChangePage.Entry]
  ) throws -> Int {
    var states: [Int64: [ExactText: Seen]] = [:]
    for (type, rows) in Dictionary(grouping: rows, by: \.type) {
      guard let table = catalogue[id: type], query.types?.contains(table.type) ?? true else {
        continue
      }
      states[type] = try self.states(of: rows, in: table)
    }
    var bytes = 0
    for row in rows {
      guard let seen = states[row.type]?[ExactText(row.key)], seen.revision == row.revision else {
        continue
      }
      if case .present(let record, _) = seen.state {
        bytes += record.layers.reduce(0) { $0 + $1.count }
      }
      entries.append(
        ChangePage.Entry(key: seen.key, revision: Revision(row.revision), state: seen.state))
    }
    return bytes
  }

  private struct Seen {
    let key: EntityKey
    let revision: Int64
    let state: ChangePage.VisibleState
  }

  /// Returns the entries by key; entities with nothing to report are absent.
  private func states(of rows: [ChangeRow], in table: EntityTable) throws -> [ExactText: Seen] {
    let all = try ViewLoader(database, catalogue, scopes: scopes).views(of: rows, in: table)
    // If the entity changed later in another scope, only that later row reports it.
    let reported = Set(
      rows.lazy.filter { all[ExactText($0.key)]?.revision == $0.revision }.map { ExactText($0.key) }
    )
    let layers = all.filter { reported.contains($0.key) }
    let states: [ExactText: ChangePage.VisibleState]
    if let condition = query.conditions[table.type] {
      states = try ConditionalViews(
        condition, table, scopes: scopes.layers(of: table), origin: origin,
        position: query.position, database
      ).states(of: layers)
    } else {
      states = layers.compactMapValues(state)
    }
    return states.reduce(into: [:]) { seen, entity in
      seen[entity.key] = Seen(
        key: EntityKey(type: table.type, key: entity.key.text),
        revision: layers[entity.key]?.revision ?? 0, state: entity.value)
    }
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
