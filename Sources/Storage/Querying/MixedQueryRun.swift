import GRDB
import Model

/// Answers a ``MixedQuery``: each type by itself, then all in one order.
///
/// The list is stored in one row already, so looking at all its members costs no more than was paid
/// to store it; what they hold is read for the page alone.
struct MixedQueryRun {
  private struct Found {
    let key: EntityKey
    let tieBreak: String
    /// In the list.
    let place: Int
    /// Of each term of the order.
    let values: [FilterValue]
  }

  let query: MixedQuery
  let catalogue: TypeCatalogue
  /// Numbers of the viewer's scopes, narrowest first.
  let scopes: [Int64]
  let touches: TouchLedger
  let database: Database

  func page() throws -> EntityPage {
    let found = try found().sorted(by: isBefore)
    let rest = found[(query.after.map { start(in: found, after: $0) } ?? 0)...]
      .dropFirst(query.offset)
    let shown = rest.prefix(query.limit)
    var page = EntityPage(items: try items(Array(shown)))
    if shown.count < rest.count, let last = shown.last {
      let values = query.order.terms.isEmpty ? [.integer(Int64(last.place))] : last.values
      page.next = EntityPosition(values: values, key: last.tieBreak)
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
      let run = try EntityQueryRun(asked, table, scopes: scopes, touches, database)
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
      records[found.key].map { EntityPage.Item(key: found.key, record: $0) }
    }
  }

  // MARK: Order

  private func isBefore(_ left: Found, _ right: Found) -> Bool {
    if query.order.terms.isEmpty { return left.place < right.place }
    return isBefore((left.values, left.tieBreak), (right.values, right.tieBreak))
  }

  /// Without an order, what was shown last may have moved in the list since: it says itself where
  /// to go on.
  private func start(in found: [Found], after: EntityPosition) -> Int {
    let start: Int?
    if query.order.terms.isEmpty {
      let told = if case .integer(let told)? = after.values.first { Int(told) } else { 0 }
      let place =
        query.members.firstIndex { MixedQuery.tieBreak(of: $0).equalsExactly(after.key) } ?? told
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
    for (term, (one, other)) in zip(query.order.terms, zip(left.values, right.values)) {
      if one.isBefore(other) { return !term.isDescending }
      if other.isBefore(one) { return term.isDescending }
    }
    return left.tieBreak.precedesExactly(right.tieBreak)
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
  /// As SQLite orders values: NULL, then numbers, then texts byte by byte.
  fileprivate func isBefore(_ other: FilterValue) -> Bool {
    switch (self, other) {
    case (.null, .null): false
    case (.null, _): true
    case (_, .null): false
    case (.integer(let left), .integer(let right)): left < right
    case (.integer(let left), .real(let right)): Double(left) < right
    case (.real(let left), .integer(let right)): left < Double(right)
    case (.real(let left), .real(let right)): left < right
    case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.text, _): false
    case (_, .text): true
    }
  }

  /// Nil for null.
  fileprivate var text: String? {
    switch self {
    case .null: nil
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    }
  }
}
