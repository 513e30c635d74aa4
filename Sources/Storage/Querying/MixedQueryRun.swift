import Filtering
import GRDB
import Model

/// The execution of a ``MixedQuery``: queries each type separately, then sorts all found entities together.
///
/// A list is stored in one row, so reading all its members costs no more than storing them did. Of whole
/// types, each gives as many places as the page can need. The fields are loaded only for the page.
struct MixedQueryRun {
  private struct Found {
    let key: EntityKey
    let tieBreak: String
    /// The index in the list; 0 without one.
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
    switch query.source {
    case .members(let members): try page(of: members)
    case .types(let types): try page(of: types)
    }
  }

  private func page(of members: [EntityKey]) throws -> EntityPage {
    let found = try found(members).sorted(by: isBefore)
    let rest = found[(query.after.map { start(in: found, members, after: $0) } ?? 0)...]
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

  private func found(_ members: [EntityKey]) throws -> [Found] {
    let places = Dictionary(
      members.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var found: [Found] = []
    for (name, keys) in Dictionary(grouping: members, by: \.type) {
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

  // MARK: Whole types

  /// A page of all entities of the types. Each type gives its first entities after the position.
  private func page(of types: [String]) throws -> EntityPage {
    var found: [Found] = []
    var total = 0
    let bound = query.offset + query.limit + 1
    for name in types {
      guard let table = catalogue[name], !scopes.isEmpty else { continue }
      var asked = EntityQuery(
        type: EntityType(name: name, keyFields: [], columns: []), filter: query.filter,
        order: query.order, limit: query.wantsSections ? Int(Int32.max) : bound)
      // The sections are those of the whole list.
      if !query.wantsSections { asked.after = query.after.map { after($0, in: name) } }
      let run = try EntityQueryRun(asked, table, scopes: scopes, catalogue, touches, database)
      for position in try run.places() {
        let key = EntityKey(type: name, key: position.key)
        found.append(
          Found(
            key: key, tieBreak: MixedQuery.tieBreak(of: key), place: 0, values: position.values))
      }
      guard query.wantsTotal else { continue }
      (asked.after, asked.limit, asked.wantsTotal) = (nil, 0, true)
      total +=
        try EntityQueryRun(asked, table, scopes: scopes, catalogue, touches, database).page()
        .total ?? 0
    }
    found.sort { isBefore(($0.values, $0.tieBreak), ($1.values, $1.tieBreak)) }
    var rest = found[...]
    if query.wantsSections, let after = query.after {
      rest = rest.drop { !isBefore((after.values, after.key), ($0.values, $0.tieBreak)) }
    }
    rest = rest.dropFirst(query.offset)
    let shown = rest.prefix(query.limit)
    var page = EntityPage(items: try items(Array(shown)))
    if shown.count < rest.count, let last = shown.last {
      page.next = position(of: last)
    }
    if query.wantsTotal { page.total = total }
    if query.wantsSections { page.sections = Self.sections(of: found) }
    return page
  }

  /// A position of the whole list as one among the entities of a type: with equal values, those of types
  /// that come first precede it, and those of later types follow it.
  private func after(_ position: EntityPosition, in type: String) -> EntityPosition {
    let start = MixedQuery.tieBreak(of: EntityKey(type: type, key: ""))
    let key: String
    if position.key.utf8.starts(with: start.utf8) {
      key = String(decoding: position.key.utf8.dropFirst(start.utf8.count), as: UTF8.self)
    } else {
      key = start.precedesExactly(position.key) ? Self.lastKey : ""
    }
    return EntityPosition(values: position.values, key: key)
  }

  /// A text that no key follows: keys are texts of at most 256 bytes for local types, and longer ones of
  /// upstream do not begin with so many of the last character.
  private static let lastKey = String(repeating: "\u{10FFFF}", count: 128)

  private func items(_ shown: [Found]) throws -> [EntityPage.Item] {
    let loader = EntityLoader(database, scopes: scopes, touches)
    var records: [EntityKey: EntityRecord] = [:]
    for (name, found) in Dictionary(grouping: shown, by: \.key.type) {
      guard let table = catalogue[name] else { continue }
      for (found, loaded) in zip(found, try loader.load(found.map(\.key.key), from: table)) {
        if let loaded { records[found.key] = loaded.record }
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
    let isByPlace = if case .members = query.source { query.order.terms.isEmpty } else { false }
    let values = isByPlace ? [.integer(Int64(found.place))] : found.values
    return EntityPosition(values: values, key: found.tieBreak)
  }

  private func isBefore(_ left: Found, _ right: Found) -> Bool {
    if query.order.terms.isEmpty { return left.place < right.place }
    return isBefore((left.values, left.tieBreak), (right.values, right.tieBreak))
  }

  /// Returns the index after a position. Without an order the last entity of the previous page can have
  /// moved in the list, so its current index counts, and the index in the position only if it was removed.
  private func start(
    in found: [Found], _ members: [EntityKey], after: EntityPosition
  ) -> Int {
    let start: Int?
    if query.order.terms.isEmpty {
      let former = if case .integer(let index)? = after.values.first { Int(index) } else { 0 }
      let place =
        members.firstIndex { MixedQuery.tieBreak(of: $0).equalsExactly(after.key) } ?? former
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
