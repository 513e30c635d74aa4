import GRDB
import Model

/// Makes one page of the change log, inside the caller's read transaction.
struct ChangeLogReader {
  /// Rows looked at for one page, whatever comes of them: a reader who wants few of many gets
  /// short pages instead of a long transaction.
  static let rowsMax = 10_000
  /// Rows read at a time.
  private static let stretch = 256

  private let database: Database
  private let catalogue: TypeCatalogue
  private let query: ChangeQuery
  private let scopes: [Int64]
  private let head: Int64
  private let floor: Int64
  private let origin: LogOrigin

  /// - Parameter scopes: those of the viewer that exist, narrowest first.
  init(
    _ database: Database, _ catalogue: TypeCatalogue, _ query: ChangeQuery, scopes: [Int64]
  ) throws {
    self.database = database
    self.catalogue = catalogue
    self.query = query
    self.scopes = scopes
    let statement = try PreparedStatement(
      database, "SELECT revision, floor FROM counter WHERE id = 1")
    defer { statement.reset() }
    guard try statement.step() else { throw StorageError.corrupt("the counters are missing") }
    head = statement.int64(0)
    floor = statement.int64(1)
    origin = query.origin ?? .snapshot(start: Revision(statement.int64(0)))
  }

  /// - Returns: nil where deletions behind the position have been forgotten.
  func page() throws -> ChangePage? {
    guard isAboveFloor, try isPastKnown() else { return nil }
    guard var last = query.position.row else {
      throw StorageError.failed(code: 0, message: "not a place in the change log")
    }
    var entries: [ChangePage.Entry] = []
    var bytes = 0
    var seen = 0
    let scan = ChangeScan(database, scopes: scopes)
    while true {
      let limit = min(Self.stretch, query.limit - entries.count)
      // One more than is used tells whether the page ends inside a revision.
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

  /// A deletion at the floor's own revision may have been forgotten. A snapshot misses only
  /// deletions of what it may have told, which are behind its start.
  private var isAboveFloor: Bool {
    switch origin {
    case .snapshot(let start): return start.value >= floor
    case .delta:
      let position = query.position
      return position.revision.value > floor
        || (position.revision.value == floor && position.place.isEmpty)
    }
  }

  /// With a condition, what entities were at the origin decides what came into it.
  private func isPastKnown() throws -> Bool {
    guard case .delta(let base) = origin else { return true }
    return try query.conditions.keys.allSatisfy { name in
      guard let table = catalogue[name] else { return true }
      let past = EntityHistoryLoader(database: database, type: table.id, scopes: scopes)
      return try past.since().map { $0 <= base.value } ?? false
    }
  }

  // MARK: Entries

  /// - Returns: the bytes of the contents that were added.
  private func append(
    _ rows: [ChangeRow], to entries: inout [ChangePage.Entry]
  ) throws -> Int {
    var sights: [Int64: [ExactText: Seen]] = [:]
    for (type, rows) in Dictionary(grouping: rows, by: \.type) {
      guard let table = catalogue[id: type], query.types?.contains(table.type) ?? true else {
        continue
      }
      sights[type] = try self.sights(of: rows, in: table)
    }
    var bytes = 0
    for row in rows {
      guard let seen = sights[row.type]?[ExactText(row.key)], seen.revision == row.revision else {
        continue
      }
      if case .present(let record, _) = seen.sight {
        bytes += record.layers.reduce(0) { $0 + $1.count }
      }
      entries.append(
        ChangePage.Entry(key: seen.key, revision: Revision(row.revision), sight: seen.sight))
    }
    return bytes
  }

  private struct Seen {
    let key: EntityKey
    let revision: Int64
    let sight: ChangePage.VisibleState
  }

  /// By key; what there is nothing to tell of is absent.
  private func sights(of rows: [ChangeRow], in table: EntityTable) throws -> [ExactText: Seen] {
    let all = try ViewLoader(database, catalogue, scopes: scopes).sights(of: rows, in: table)
    // Of a row that was changed later in another scope, that later one tells.
    let telling = Set(
      rows.lazy.filter { all[ExactText($0.key)]?.revision == $0.revision }.map { ExactText($0.key) }
    )
    let layers = all.filter { telling.contains($0.key) }
    let sights: [ExactText: ChangePage.VisibleState]
    if let condition = query.conditions[table.type] {
      sights = try ConditionalViews(
        condition, table, scopes: scopes, origin: origin, position: query.position, database
      ).sights(of: layers)
    } else {
      sights = layers.compactMapValues(sight)
    }
    return sights.reduce(into: [:]) { seen, entity in
      seen[entity.key] = Seen(
        key: EntityKey(type: table.type, key: entity.key.text),
        revision: layers[entity.key]?.revision ?? 0, sight: entity.value)
    }
  }

  /// Nil where there is nothing to tell.
  private func sight(of layers: LayeredView) -> ChangePage.VisibleState? {
    let contents = layers.contents
    if contents.isEmpty {
      if case .snapshot(let start) = origin, (layers.revision ?? 0) <= start.value { return nil }
      return layers.reasonGone.map { .gone($0) }
    }
    let isNew =
      switch origin {
      case .snapshot: true
      case .delta(let base):
        // It may have gone, and been told of as gone, since the reading set out.
        !layers.wasPresent(at: base.value)
          || !layers.wasPresent(at: query.position.revision.value)
      }
    return .present(EntityRecord(layers: contents), isNew: isNew)
  }
}
