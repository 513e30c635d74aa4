import Filtering
import GRDB
import Model

/// The execution of a ``MixedQuery``: queries each type separately, then sorts all members together.
///
/// The list is stored in one row, so reading all its members costs no more than storing them did; their
/// fields are loaded only for the page.
struct MixedQueryRun {
  private struct Found {
    let key: EntityKey
    let tieBreak: String
    /// The index in the list.
    let place: Int
    /// The value of each order term.
    let values: [FilterValue]
  }

  let query: MixedQuery
  let catalogue: TypeCatalogue
  let scopes: ViewerScopes
  let touches: TouchLedger
  let database: Database

  func page() throws -> EntityPage {
    let found = try found().sorted(by: isBefore)
    let rest = found[(query.after.map { start(in: found, after: $0) } ?? 0)...]
      .dropFirst(query.offset)
    let shown = rest.prefix(query.limit)
    var page = EntityPage(items: try items(Array(shown)))
    if shown.count < rest.count, let last = shown.last {
      page.next = position(of: last)
    }
    if query.wantsTotal { page.total = found.count }
    if query.wantsSections { page.sections = Self.sections(of: found) }
    return page
  }

  // MARK: Members

  private func found() throws -> [Found] {
    let places = Dictionary(
      query.members.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var found: [Found] = []
    for (name, keys) in Dictionary(grouping: query.members, by: \.type) {
      guard let table = catalogue[name], !scopes.isEmpty else { continue }
      let type = EntityType(name: name, keyFields: [], columns: [])
      let asked = EntityQuery(
        type: type, filter: query.filter, order: query.order, members: keys.map(\.key),
        limit: keys.count)
      let run = try EntityQueryRun(asked, table, scopes: scopes, catalogue, touches, database)
      for position in try run.places() {
        let key = EntityKey(type: name, key: position.key)
        found.append(
          Found(
            key: key, tieBreak: MixedQuery.tieBreak(of: key), place: places[key] ?? 0,
            values: Array(position.values.prefix(query.order.terms.count))))
      }
    }
    return found
  }

  private func items(_ shown: [Found]) throws -> [EntityPage.Item] {
    let loader = EntityLoader(database, scopes: scopes, touches)
    var records: [EntityKey: EntityRecord] = [:]
    for (name, found) in Dictionary(grouping: shown, by: \.key.type) {
      guard let table = catalogue[name] else { continue }
      for (key, loaded) in try loader.load(found.map(\.key.key), from: table) {
        records[EntityKey(type: name, key: key.text)] = loaded.record
      }
    }
    return shown.compactMap { found in
      records[found.key].map {
        EntityPage.Item(key: found.key, record: $0, position: position(of: found))
      }
    }
  }

  // MARK: Order

  private func position(of found: Found) -> EntityPosition {
    let values = query.order.terms.isEmpty ? [.integer(Int64(found.place))] : found.values
    return EntityPosition(values: values, key: found.tieBreak)
  }

  private func isBefore(_ left: Found, _ right: Found) -> Bool {
    if query.order.terms.isEmpty { return left.place < right.place }
    return isBefore((left.values, left.tieBreak), (right.values, right.tieBreak))
  }

  /// Returns the index after a position. Without an order the last entity of the previous page can have
  /// moved in the list, so its current index counts, and the index in the position only if it was removed.
  private func start(in found: [Found], after: EntityPosition) -> Int {
    let start: Int?
    if query.order.terms.isEmpty {
      let former = if case .integer(let index)? = after.values.first { Int(index) } else { 0 }
      let place =
        query.members.firstIndex { MixedQuery.tieBreak(of: $0).equalsExactly(after.key) } ?? former
      start = found.firstIndex { $0.place > place }
    } else {
      start = found.firstIndex {
        isBefore((after.values, after.key), ($0.values, $0.tieBreak))
      }
    }
    return start ?? found.count
  }

  private func isBefore(
    _ left: (values: [FilterValue], tieBreak: String),
    _ right: (values: [FilterValue], tieBreak: String)
  ) -> Bool {
    query.order.isBefore(
      EntityPosition(values: left.values, key: left.tieBreak),
      EntityPosition(values: right.values, key: right.tieBreak))
  }

  private static func sections(of found: [Found]) -> [EntityPage.Section] {
    var sections: [EntityPage.Section] = []
    var start = 0
    while start < found.count {
      let value = found[start].values.first
      let end = found[start...].firstIndex { $0.values.first != value } ?? found.count
      sections.append(
        EntityPage.Section(name: value?.text, offset: start, count: end - start))
      start = end
    }
    return sections
  }
}

extension FilterValue {
  /// The value as text; nil for null.
  fileprivate var text: String? {
    switch self {
    case .null: nil
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    }
  }
}
