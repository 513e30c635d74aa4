import Filtering
import GRDB
import Model

/// The execution of ``RelatedQuery``s in the caller's read transaction.
///
/// The number of statements depends on the number of relationships and types, not on that of owners.
/// Only where the owners have very many members that name them, each owner's are selected by itself.
/// Members in stored order are loaded by key, a few more than are asked for; those that the viewer does
/// not see are replaced by later ones in further rounds. Members in another order are ordered by SQL.
struct RelatedQueryRun {
  let queries: [RelatedQuery]
  let catalogue: TypeCatalogue
  let scopes: ViewerScopes
  let touches: TouchLedger
  let database: Database

  private var records: [EntityKey: EntityRecord] = [:]
  /// Keys that were looked up and have no row.
  private var absent: Set<EntityKey> = []

  init(
    _ queries: [RelatedQuery], catalogue: TypeCatalogue, scopes: ViewerScopes, touches: TouchLedger,
    database: Database
  ) {
    self.queries = queries
    self.catalogue = catalogue
    self.scopes = scopes
    self.touches = touches
    self.database = database
  }

  mutating func run() throws -> RelatedEntities {
    var lists: [[RelatedList]] = []
    var stored: [(query: Int, members: [[EntityKey]])] = []
    for (index, query) in queries.enumerated() {
      switch query.source {
      case .members(let members) where query.order.terms.isEmpty:
        lists.append([RelatedList](repeating: RelatedList(), count: members.count))
        stored.append((index, members))
      case .members(let members):
        lists.append(try ordered(members, query))
      case .naming(let type, let column, let values):
        lists.append(try naming(type, column, values, query))
      }
    }
    try fill(&lists, stored)
    try load(lists.lazy.flatMap { $0 }.flatMap(\.keys))
    return RelatedEntities(lists: lists, records: records)
  }

  // MARK: Stored order

  private mutating func fill(
    _ lists: inout [[RelatedList]], _ stored: [(query: Int, members: [[EntityKey]])]
  ) throws {
    /// A list that lacks members: the next one to look up.
    struct Open {
      let query: Int
      let owner: Int
      let members: [EntityKey]
      var next = 0
    }
    var open = stored.flatMap { query, members in
      members.enumerated().map { Open(query: query, owner: $0, members: $1) }
    }
    // Twice as many of each list in each round, so the number of rounds is small.
    var surplus = 0
    while !open.isEmpty {
      var ends: [Int] = []
      var wanted: [EntityKey] = []
      for list in open {
        let lacking = queries[list.query].limit + 1 - lists[list.query][list.owner].keys.count
        let end = min(list.members.count, list.next + lacking + surplus)
        wanted += list.members[list.next..<end]
        ends.append(end)
      }
      try load(wanted)
      var rest: [Open] = []
      for (var list, end) in zip(open, ends) {
        let limit = queries[list.query].limit
        for key in list.members[list.next..<end] where records[key]?.isShown == true {
          lists[list.query][list.owner].keys.append(key)
        }
        list.next = end
        if lists[list.query][list.owner].keys.count > limit {
          lists[list.query][list.owner].keys.removeSubrange(limit...)
          lists[list.query][list.owner].hasMore = true
        } else if end < list.members.count {
          rest.append(list)
        }
      }
      open = rest
      surplus = max(16, surplus * 2)
    }
  }

  private mutating func load(_ keys: some Sequence<EntityKey>) throws {
    guard !scopes.isEmpty else { return }
    var unread: [String: Set<ExactText>] = [:]
    for key in keys where records[key] == nil && !absent.contains(key) {
      unread[key.type, default: []].insert(ExactText(key.key))
    }
    let loader = EntityLoader(database, scopes: scopes, touches)
    for (type, keys) in unread {
      guard let table = catalogue[type] else { continue }
      let loaded = try loader.load(keys.lazy.map(\.text), from: table)
      for key in keys {
        let entity = EntityKey(type: type, key: key.text)
        if let found = loaded[key] {
          records[entity] = found.record
        } else {
          absent.insert(entity)
        }
      }
    }
  }

  // MARK: Another order

  /// Orders all members that the viewer sees at once, then takes the first of each owner.
  private func ordered(_ members: [[EntityKey]], _ query: RelatedQuery) throws -> [RelatedList] {
    var byType: [String: Set<ExactText>] = [:]
    for key in members.joined() { byType[key.type, default: []].insert(ExactText(key.key)) }
    var found: [(key: EntityKey, position: EntityPosition)] = []
    for (name, keys) in byType {
      guard let table = catalogue[name], !scopes.isEmpty else { continue }
      let asked = EntityQuery(
        type: EntityType(name: name, keyFields: [], columns: []), order: query.order,
        members: keys.map(\.text), limit: keys.count)
      let run = try EntityQueryRun(asked, table, scopes: scopes, catalogue, touches, database)
      for place in try run.places() {
        let key = EntityKey(type: name, key: place.key)
        found.append(
          (key, EntityPosition(values: place.values, key: MixedQuery.tieBreak(of: key))))
      }
    }
    found.sort { query.order.isBefore($0.position, $1.position) }
    var ranks: [EntityKey: Int] = [:]
    for (rank, member) in found.enumerated() { ranks[member.key] = rank }
    return members.map { keys in
      var seen: Set<EntityKey> = []
      let own = keys.compactMap { key in
        ranks[key].flatMap { seen.insert(key).inserted ? (rank: $0, key: key) : nil }
      }.sorted { $0.rank < $1.rank }
      return RelatedList(
        keys: own.prefix(query.limit).map(\.key), hasMore: own.count > query.limit)
    }
  }

  /// The members of all owners that one statement selects.
  private static let namingMax = 10_000

  /// Selects the members of all owners by one statement, ordered by owner; if there are too many, the
  /// first ones of each owner by a statement each.
  private func naming(
    _ type: EntityType, _ column: String, _ values: [FilterValue], _ query: RelatedQuery
  ) throws -> [RelatedList] {
    var lists = [RelatedList](repeating: RelatedList(), count: values.count)
    var owners: [FilterValue: [Int]] = [:]
    for (owner, value) in values.enumerated() where value != .null {
      owners[value, default: []].append(owner)
    }
    guard let table = catalogue[type.name], !scopes.isEmpty, !owners.isEmpty else { return lists }
    let owner = EntityPath(field: column)
    let terms = query.order.terms.filter { $0.paths != [owner] }
    func add(_ values: [FilterValue], limit: Int) throws -> Bool {
      let asked = EntityQuery(
        type: type, filter: Filter(condition: .oneOf(column: .field(owner), values)),
        order: EntityOrder([EntityOrder.Term(column: owner)] + terms), limit: limit)
      let run = try EntityQueryRun(
        asked, table, scopes: scopes, catalogue, touches, database)
      let places = try run.places()
      guard places.count <= limit || values.count == 1 else { return false }
      for place in places {
        for owner in place.values.first.flatMap({ owners[$0] }) ?? [] {
          if lists[owner].keys.count < query.limit {
            lists[owner].keys.append(EntityKey(type: type.name, key: place.key))
          } else {
            lists[owner].hasMore = true
          }
        }
      }
      return true
    }
    if try !add(Array(owners.keys), limit: Self.namingMax) {
      for value in owners.keys { _ = try add([value], limit: query.limit) }
    }
    return lists
  }
}

extension EntityRecord {
  fileprivate var isShown: Bool { !isDeleted && !layers.isEmpty }
}
