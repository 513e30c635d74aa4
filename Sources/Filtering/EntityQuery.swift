package import Model

/// A query for entities of a type, in an order: the request of a collection to the store.
package struct EntityQuery: Sendable {
  package let type: EntityType
  package var filter: Filter?
  package var order: EntityOrder
  /// Only these keys, and in this order if ``order`` has no terms: the members of a relationship.
  package var members: [String]?
  package var limit: Int
  package var offset: Int
  /// Where the previous page ended.
  package var after: EntityPosition?
  package var wantsTotal: Bool
  /// The column or key path of the sections, which is the first of the order.
  package var section: String?

  package init(
    type: EntityType, filter: Filter? = nil, order: EntityOrder = .byKey,
    members: [String]? = nil, limit: Int = 50, offset: Int = 0, after: EntityPosition? = nil,
    wantsTotal: Bool = false, section: String? = nil
  ) {
    self.type = type
    self.filter = filter
    self.order = order
    self.members = members
    self.limit = limit
    self.offset = offset
    self.after = after
    self.wantsTotal = wantsTotal
    self.section = section
  }
}

extension EntityQuery {
  /// The types of related entities that filter and order are evaluated on: a caller must be allowed to
  /// read them, and a change of theirs can change the page.
  package var reachedTypes: Set<String> {
    (filter?.reachedTypes ?? []).union(order.reachedTypes)
  }
}

extension EntityOrder {
  /// The types of related entities that the key paths lead through.
  package var reachedTypes: Set<String> {
    Set(terms.lazy.flatMap(\.paths).flatMap(\.hops).map(\.target))
  }
}

/// The position of an entity in an order: its values of the terms, and its key. It stays valid if the
/// entity changes, since the following entities are found by comparing, not by counting.
package struct EntityPosition: Hashable, Sendable {
  /// The value for each term of the order.
  package let values: [FilterValue]
  package let key: String

  package init(values: [FilterValue], key: String) {
    self.values = values
    self.key = key
  }
}

/// A page of a collection in one viewer's view, from one snapshot.
package struct EntityPage: Sendable {
  package struct Item: Sendable {
    package let key: EntityKey
    package let record: EntityRecord
    /// Its position in the order of the list.
    package let position: EntityPosition

    package init(key: EntityKey, record: EntityRecord, position: EntityPosition) {
      self.key = key
      self.record = record
      self.position = position
    }
  }

  /// Consecutive entities with the same value of a column.
  package struct Section: Hashable, Sendable {
    /// The value as text; nil for null.
    package let name: String?
    /// Number of entities before it in the whole list.
    package let offset: Int
    package let count: Int

    package init(name: String?, offset: Int, count: Int) {
      self.name = name
      self.offset = offset
      self.count = count
    }
  }

  package var items: [Item]
  /// Where the next page begins; nil at the end.
  package var next: EntityPosition?
  package var total: Int?
  package var sections: [Section]?

  package init(
    items: [Item], next: EntityPosition? = nil, total: Int? = nil, sections: [Section]? = nil
  ) {
    self.items = items
    self.next = next
    self.total = total
    self.sections = sections
  }
}

/// The order of a collection: by columns, then by key, so that no two entities compare equal.
package struct EntityOrder: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    /// One, or through unions and interfaces one for each type: an entity has a value on one of them at most.
    package let paths: [EntityPath]
    package let isDescending: Bool

    package init(column path: EntityPath, isDescending: Bool = false) {
      self.init(columns: [path], isDescending: isDescending)
    }

    fileprivate init(columns paths: [EntityPath], isDescending: Bool) {
      self.paths = paths
      self.isDescending = isDescending
    }

    /// As it is written: `year`, `maker.lastName`.
    package var column: String { paths.first?.description ?? "" }
  }

  /// The maximum number of terms.
  package static let termsMax = 8
  /// Limit of different to-one relationships in all terms: each is a look-up for every row.
  static let relationshipsMax = 8

  package let terms: [Term]

  package init(_ terms: [Term] = []) {
    self.terms = terms
  }

  /// The order by key alone.
  package static let byKey = EntityOrder()

  /// Returns whether one position precedes another, as SQLite orders them: by the terms' values, then
  /// by key.
  package func isBefore(_ left: EntityPosition, _ right: EntityPosition) -> Bool {
    for (term, (one, other)) in zip(terms, zip(left.values, right.values)) {
      if one.isBefore(other) { return !term.isDescending }
      if other.isBefore(one) { return term.isDescending }
    }
    return left.key.precedesExactly(right.key)
  }

  /// Parses `-year,maker.lastName`: columns and key paths in order, with a minus for descending.
  ///
  /// Nulls and what was never fetched come first, and last in descending order.
  package init(
    _ text: String, type: EntityType, graph: EntityGraph = .none
  ) throws(EntityOrderFaults) {
    var terms: [Term] = []
    var faults: [String] = []
    let resolver = PathResolver(graph: graph)
    var relationships: Set<[EntityPath.Hop]> = []
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    // Checked first, since each part could be a fault of its own.
    guard parts.count <= Self.termsMax else {
      throw EntityOrderFaults(messages: ["has more than \(Self.termsMax) columns"])
    }
    for part in parts {
      let isDescending = part.hasPrefix("-")
      let name = String(isDescending ? part.dropFirst() : part)
      do throws(PathResolver.Fault) {
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let found = try resolver.resolve(names, from: type)
        let paths = found.compactMap { if case .column(let path, _) = $0 { path } else { nil } }
        guard paths.count == found.count else {
          faults.append("\(name) leads to many entities or values: an order needs one of each")
          continue
        }
        if terms.contains(where: { $0.paths == paths }) { faults.append("\(name) is named twice") }
        for hops in paths.map(\.hops) {
          for end in hops.indices { relationships.insert(Array(hops[...end])) }
        }
        terms.append(Term(columns: paths, isDescending: isDescending))
      } catch {
        faults.append(error.message)
      }
    }
    if relationships.count > Self.relationshipsMax {
      faults.append("follows more than \(Self.relationshipsMax) relationships")
    }
    guard faults.isEmpty else { throw EntityOrderFaults(messages: faults) }
    self.terms = terms
  }
}

/// Why an order cannot be used.
package struct EntityOrderFaults: Error, Hashable, Sendable {
  package let messages: [String]
}

/// A query for entities of several types: the members of a list whose declared type is a union or an
/// interface, or all entities of its types.
///
/// Filter and order name only columns that all the types have.
package struct MixedQuery: Sendable {
  package enum Source: Sendable {
    /// In the order of the result if ``MixedQuery/order`` has no terms.
    case members([EntityKey])
    /// All entities of these types.
    case types([String])
  }

  package let source: Source
  package var filter: Filter?
  package var order: EntityOrder
  package var limit: Int
  package var offset: Int
  /// Where the previous page ended: its key is the ``tieBreak(of:)``.
  package var after: EntityPosition?
  package var wantsTotal: Bool
  package var wantsSections: Bool

  package init(_ source: Source, like query: EntityQuery) {
    self.source = source
    filter = query.filter
    order = query.order
    limit = query.limit
    offset = query.offset
    after = query.after
    wantsTotal = query.wantsTotal
    wantsSections = query.section != nil
  }

  /// Returns a text unique to the entity, which orders entities that are otherwise equal: by type, then
  /// by key.
  package static func tieBreak(of key: EntityKey) -> String {
    "\(key.type.utf8.count):\(key.type)\(key.key)"
  }
}
