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
  let memory: RowMemory?
  let database: Database

  /// The entities that were looked up or selected, each once; a list names them by their indexes here.
  private var members: [Member] = []
  private var places: [EntityKey: Int] = [:]

  /// An entity, and what is known of it.
  private struct Member {
    enum State {
      case unread, absent
      case known(EntityRecord)
    }

    let key: EntityKey
    var state = State.unread

    /// Whether it is known to be one that the viewer sees.
    var isShown: Bool {
      if case .known(let record) = state {
        !record.isDeleted && !record.layers.isEmpty
      } else {
        false
      }
    }
    var isDeleted: Bool { if case .known(let record) = state { record.isDeleted } else { false } }
  }

  init(
    _ queries: [RelatedQuery], catalogue: TypeCatalogue, scopes: ViewerScopes, touches: TouchLedger,
    memory: RowMemory?, database: Database
  ) {
    self.memory = memory
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
    try load(lists.lazy.flatMap { $0 }.flatMap(\.places))
    return result(lists)
  }

  /// Returns the lists with the entities that they name. One that was deleted since it was ordered is named by
  /// none.
  private func result(_ lists: [[RelatedList]]) -> RelatedEntities {
    var entities: [RelatedEntities.Entity] = []
    entities.reserveCapacity(members.count)
    var shown = [Int?](repeating: nil, count: members.count)
    let lists = lists.map { lists in
      lists.map { list in
        var list = list
        list.places = list.places.compactMap { place in
          if shown[place] == nil, case .known(let record) = members[place].state {
            shown[place] = entities.count
            entities.append((members[place].key, record))
          }
          return shown[place]
        }
        return list
      }
    }
    return RelatedEntities(lists: lists, entities: entities)
  }

  /// Returns the index of an entity among the members.
  private mutating func place(of key: EntityKey) -> Int {
    if let known = places[key] { return known }
    places[key] = members.count
    members.append(Member(key: key))
    return members.count - 1
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
      var wanted: [Int] = []
      for list in open {
        let lacking = queries[list.query].limit + 1 - lists[list.query][list.owner].places.count
        let end = min(list.members.count, list.next + lacking + surplus)
        for key in list.members[list.next..<end] { wanted.append(place(of: key)) }
        ends.append(wanted.count)
      }
      try load(wanted)
      var rest: [Open] = []
      var start = 0
      for (var list, end) in zip(open, ends) {
        let limit = queries[list.query].limit
        let found = wanted[start..<end]
        if list.next == 0, let first = found.first, members[first].isDeleted {
          lists[list.query][list.owner].isFirstDeleted = true
        }
        lists[list.query][list.owner].places += found.filter { members[$0].isShown }
        list.next += found.count
        start = end
        if lists[list.query][list.owner].places.count > limit {
          lists[list.query][list.owner].places.removeSubrange(limit...)
          lists[list.query][list.owner].hasMore = true
        } else if list.next < list.members.count {
          rest.append(list)
        }
      }
      open = rest
      surplus = max(16, surplus * 2)
    }
  }

  /// Looks up those of some members that were not looked up before.
  private mutating func load(_ wanted: some Sequence<Int>) throws {
    guard !scopes.isEmpty else { return }
    var unread: [String: [Int]] = [:]
    for place in wanted {
      guard case .unread = members[place].state else { continue }
      members[place].state = .absent
      unread[members[place].key.type, default: []].append(place)
    }
    let visible = VisibleScopes(scopes, database)
    for (type, places) in unread {
      guard let table = catalogue[type] else { continue }
      let loader = EntityLoader(
        database, scopes: try visible.holding(table), touches, memory: memory)
      let loaded = try loader.load(places.map { members[$0].key.key }, from: table)
      for (place, found) in zip(places, loaded) {
        if let found { members[place].state = .known(found.record) }
      }
    }
  }

  // MARK: Another order

  /// Orders all members that the viewer sees at once, then takes the first of each owner.
  private mutating func ordered(
    _ listed: [[EntityKey]], _ query: RelatedQuery
  ) throws -> [RelatedList] {
    let owned = listed.map { keys in keys.map { place(of: $0) } }
    var ranks = [Int?](repeating: nil, count: members.count)
    for (rank, place) in try ranked(owned, query.order).enumerated() { ranks[place] = rank }
    return owned.map { places in
      var own = places.compactMap { place in ranks[place].map { (rank: $0, place: place) } }
      own.sort { $0.rank < $1.rank }
      var list = RelatedList()
      for (index, member) in own.enumerated()
      where index == 0 || member.place != own[index - 1].place {
        if list.places.count == query.limit {
          list.hasMore = true
          break
        }
        list.places.append(member.place)
      }
      return list
    }
  }

  /// Returns the members that the viewer sees, each once, in order.
  private func ranked(_ owned: [[Int]], _ order: EntityOrder) throws -> [Int] {
    var isAsked = [Bool](repeating: false, count: members.count)
    var keys: [String: [String]] = [:]
    for place in owned.joined() where !isAsked[place] {
      isAsked[place] = true
      keys[members[place].key.type, default: []].append(members[place].key.key)
    }
    var found: [(place: Int, position: EntityPosition)] = []
    for (name, keys) in keys {
      guard let table = catalogue[name], !scopes.isEmpty else { continue }
      let asked = EntityQuery(
        type: EntityType(name: name, keyFields: [], columns: []), order: order, members: keys,
        limit: keys.count)
      let run = try EntityQueryRun(asked, table, scopes: scopes, catalogue, touches, database)
      for position in try run.places() {
        let key = EntityKey(type: name, key: position.key)
        guard let place = places[key] else { continue }
        found.append(
          (place, EntityPosition(values: position.values, key: MixedQuery.tieBreak(of: key))))
      }
    }
    // Those of one type are in order.
    if keys.count > 1 { found.sort { order.isBefore($0.position, $1.position) } }
    return found.map(\.place)
  }

  /// The members of all owners that one statement selects.
  private static let namingMax = 10_000

  /// Selects the members of all owners by one statement, ordered by owner; if there are too many, the
  /// first ones of each owner by a statement each.
  private mutating func naming(
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
    func add(
      _ values: [FilterValue], limit: Int, to run: inout RelatedQueryRun
    ) throws -> Bool {
      let asked = EntityQuery(
        type: type, filter: Filter(condition: .oneOf(column: .field(owner), values)),
        order: EntityOrder([EntityOrder.Term(column: owner)] + terms), limit: limit)
      let selection = try EntityQueryRun(
        asked, table, scopes: run.scopes, run.catalogue, run.touches, run.database)
      let found = try selection.places()
      guard found.count <= limit || values.count == 1 else { return false }
      for member in found {
        for owner in member.values.first.flatMap({ owners[$0] }) ?? [] {
          if lists[owner].places.count < query.limit {
            lists[owner].places.append(
              run.place(of: EntityKey(type: type.name, key: member.key)))
          } else {
            lists[owner].hasMore = true
          }
        }
      }
      return true
    }
    if try !add(Array(owners.keys), limit: Self.namingMax, to: &self) {
      for value in owners.keys { _ = try add([value], limit: query.limit, to: &self) }
    }
    return lists
  }
}
