import Filtering
import GRDB
import Model

/// Finds the entities that changes of other entities concern: those from which a path of a condition leads to
/// one that changed.
///
/// Present references are enough. If a path led elsewhere before, an entity on it changed too, and the first
/// one of these is where the path still leads. Only the former owner of a member that names its owner is
/// found in the entity history: it did not change itself.
struct RelatedReach {
  /// The changes after this revision concern the reader.
  struct Changes {
    /// The keys that changed, by type number, with the revisions of their changes.
    var keys: [Int64: [ExactText: Int64]] = [:]
    let base: Int64

    var isEmpty: Bool { keys.isEmpty }
  }

  enum Found {
    /// The concerned entities with the last revision that concerns them, in the order of their keys.
    ///
    /// - Parameter isCut: whether there are others after the last one.
    case entities([(key: String, revision: Int64)], isCut: Bool)
    /// It is not known any more which entities the changes concern.
    case unknown
  }

  /// Limit of the entities between a changed one and those of the condition.
  private static let betweenMax = 10_000

  /// A part of a way from one type to another.
  private enum Segment: Hashable {
    case hops([EntityPath.Hop])
    case members(MemberPath)
  }

  private struct Way: Hashable {
    /// From the condition's entities to the related ones.
    var segments: [Segment]
    let target: String
  }

  private let table: EntityTable
  private let ways: [Way]
  private let scopes: ViewerScopes
  private let catalogue: TypeCatalogue
  private let database: Database

  /// - Parameter table: that of the condition's entities.
  init(
    _ condition: FilterCondition, _ table: EntityTable, scopes: ViewerScopes,
    _ catalogue: TypeCatalogue, _ database: Database
  ) {
    self.table = table
    self.scopes = scopes
    self.catalogue = catalogue
    self.database = database
    var ways: [Way] = []
    for way in Self.ways(of: condition) where !ways.contains(way) { ways.append(way) }
    self.ways = ways
  }

  private static func ways(of condition: FilterCondition) -> [Way] {
    let subjects = condition.subjects
    var ways: [Way] = []
    let all =
      subjects.paths.map(\.hops) + subjects.members.map(\.hops) + subjects.scalars.map(\.hops)
    for hops in all {
      for end in hops.indices {
        ways.append(Way(segments: [.hops(Array(hops[...end]))], target: hops[end].target))
      }
    }
    for members in subjects.members {
      ways.append(Way(segments: [.members(members)], target: members.target))
    }
    condition.forEachMembers { members, inner in
      for way in Self.ways(of: inner) {
        ways.append(Way(segments: [.members(members)] + way.segments, target: way.target))
      }
    }
    return ways
  }

  /// The numbers of the types whose changes matter.
  var types: Set<Int64> { Set(ways.compactMap { catalogue[$0.target]?.id }) }

  /// Finds the concerned entities.
  ///
  /// - Parameter after: only entities with later keys.
  func entities(
    concernedBy changes: Changes, after: String?, limit: Int
  ) throws -> Found {
    var all: [ExactText: Int64] = [:]
    var end: String?
    for way in ways {
      guard let target = catalogue[way.target], var touched = changes.keys[target.id] else {
        continue
      }
      for index in way.segments.indices.reversed() where !touched.isEmpty {
        let isFirst = index == way.segments.startIndex
        let owner = isFirst ? table : self.target(of: way.segments[index - 1])
        guard let owner,
          let step = try owners(
            way.segments[index], in: owner, of: touched, base: changes.base,
            after: isFirst ? after : nil, limit: isFirst ? limit : Self.betweenMax)
        else { return .unknown }
        if step.isCut {
          guard isFirst else { return .unknown }
          let last = step.owners.keys.map(\.text).max { $0.precedesExactly($1) }
          // Of each way the first ones are known: all together only up to the earliest end.
          if let last, end.map({ last.precedesExactly($0) }) ?? true { end = last }
        }
        touched = step.owners
      }
      all.merge(touched) { max($0, $1) }
    }
    var sorted = all.map { (key: $0.key.text, revision: $0.value) }
      .sorted { $0.key.precedesExactly($1.key) }
    if let end { sorted.removeAll { end.precedesExactly($0.key) } }
    let isCut = end != nil || sorted.count > limit
    if sorted.count > limit { sorted.removeSubrange(limit...) }
    return .entities(sorted, isCut: isCut)
  }

  private func target(of segment: Segment) -> EntityTable? {
    switch segment {
    case .hops(let hops): hops.last.flatMap { catalogue[$0.target] }
    case .members(let members): catalogue[members.target]
    }
  }

  // MARK: One segment back

  private typealias Step = (owners: [ExactText: Int64], isCut: Bool)

  /// - Returns: nil if the owners are not known any more.
  private func owners(
    _ segment: Segment, in table: EntityTable, of touched: [ExactText: Int64], base: Int64,
    after: String?, limit: Int
  ) throws -> Step? {
    switch segment {
    case .hops(let hops):
      return try owners(by: hops, in: table, of: touched, after: after, limit: limit)
    case .members(let members):
      guard let link = members.link else {
        return try owners(listing: members, in: table, of: touched, after: after, limit: limit)
      }
      guard let member = catalogue[members.target],
        var named = try named(by: link, of: member, touched, base: base)
      else { return nil }
      if !members.hops.isEmpty {
        return try owners(by: members.hops, in: table, of: named, after: after, limit: limit)
      }
      if let after { named = named.filter { after.precedesExactly($0.key.text) } }
      return (named, false)
    }
  }

  /// The entities whose to-one relationships lead to one of the touched.
  private func owners(
    by hops: [EntityPath.Hop], in table: EntityTable, of touched: [ExactText: Int64],
    after: String?, limit: Int
  ) throws -> Step {
    guard let last = hops.last else { return (touched, false) }
    let path = EntityPath(hops: Array(hops.dropLast()), field: last.field)
    return try owners(
      FilterCondition.truth(column: path).subjects, leadingBy: hops, in: table, of: touched,
      after: after, limit: limit
    ) { level in
      (try level.target(of: hops), nil)
    }
  }

  /// The entities that have one of the touched in a list.
  private func owners(
    listing members: MemberPath, in table: EntityTable, of touched: [ExactText: Int64],
    after: String?, limit: Int
  ) throws -> Step {
    let count = FilterCondition.comparison(column: .count(members), .equal, .integer(0))
    return try owners(
      count.subjects, leadingBy: members.hops, in: table, of: touched, after: after,
      limit: limit
    ) { level in
      (try level.members(members), "json_each(near.target) AS member")
    }
  }

  /// - Parameters:
  ///   - hops: the relationships to what an entity leads to.
  ///   - target: the SQL of what an entity leads to, and the table of its parts if it is a list.
  private func owners(
    _ subjects: FilterCondition.Subjects, leadingBy hops: [EntityPath.Hop],
    in table: EntityTable, of touched: [ExactText: Int64], after: String?, limit: Int,
    target: (QueryLevel) throws -> (sql: String, parts: String?)
  ) throws -> Step {
    var needs = EntitySource.Needs(subjects, order: .byKey)
    if let hop = hops.first { needs.add(hop: hop) }
    let source = try EntitySource(table, needs: needs, scopes: scopes, database)
    let level = try QueryLevel(
      source.row, subjects: subjects,
      QueryLevel.Context(catalogue: catalogue, scopes: VisibleScopes(scopes, database)))
    let (expression, parts) = try target(level)
    let value = parts == nil ? "near.target" : "member.value"
    var sql = BoundSQL()
    sql.append("SELECT near.key, \(value) FROM (SELECT seen.key AS key, \(expression) AS target")
    try source.append(to: &sql, members: nil, joining: level)
    sql.append(") AS near\(parts.map { ", \($0)" } ?? "") WHERE \(value) IN (")
    sql.append("SELECT value FROM json_each(")
    let keys = try KeyList.json(touched.keys.lazy.map(\.text))
    sql.append(.text(String(decoding: keys, as: UTF8.self)))
    sql.append("))")
    if let after {
      sql.append(" AND near.key > ")
      sql.append(.text(after))
    }
    sql.append(" ORDER BY near.key LIMIT ")
    sql.append(.integer(Int64(limit) + 1))
    let statement = try PreparedStatement(database, shaped: sql.text)
    sql.bind(to: statement)
    defer { statement.reset() }
    var owners: [ExactText: Int64] = [:]
    var rows = 0
    while try statement.step() {
      rows += 1
      guard let revision = touched[ExactText(statement.string(1))] else { continue }
      let key = ExactText(statement.string(0))
      owners[key] = max(revision, owners[key] ?? 0)
    }
    return (owners, rows > limit)
  }

  // MARK: Members that name their owner

  /// Returns the owners that members name, and those that they named after `base`; nil if a member was
  /// purged, which leaves no trace.
  private func named(
    by link: String, of member: EntityTable, _ touched: [ExactText: Int64], base: Int64
  ) throws -> [ExactText: Int64]? {
    guard let column = member.columns[link] else { return [:] }
    let path =
      member.kinds[link] == .reference
      ? VisibleRow.referencePath(link) : VisibleRow.path(link)
    let keys = try KeyList.json(touched.keys.lazy.map(\.text))
    // A local field is in rows of its owner alone.
    let holding =
      member.hasLocalField(link)
      ? scopes.localFields(of: member).filter { $0.set.names(link) }.compactMap(\.scope)
      : scopes.ids(of: member)
    let scopes = KeyList.json(numbers: holding)
    let statement = try PreparedStatement(
      database,
      """
      SELECT change.key, CAST(stored.\(EntityTable.quoted(column)) AS TEXT), \
      stored.key IS NULL AND change.kind = \(ChangeKind.deleted.rawValue) \
      AND change.revision > ?4 AND NOT EXISTS (SELECT 1 FROM past WHERE past.type = ?5 \
      AND past.key = change.key AND past.scope = change.scope) \
      FROM change LEFT JOIN \(EntityTable.quoted(member.name)) AS stored \
      ON stored.scope = change.scope AND stored.key = change.key \
      WHERE change.scope IN (SELECT value FROM json_each(?1)) AND change.type = ?2 \
      AND change.key IN (SELECT value FROM json_each(?3)) \
      UNION SELECT past.key, CAST(json_extract(past.fields, \(path)) AS TEXT), 0 FROM past \
      WHERE past.type IN (?2, ?5) AND past.key IN (SELECT value FROM json_each(?3)) \
      AND past.scope IN (SELECT value FROM json_each(?1)) AND past.until > ?4
      """)
    statement.bind(scopes, at: 1)
    statement.bind(member.id, at: 2)
    statement.bind(keys, at: 3)
    statement.bind(base, at: 4)
    statement.bind(EntityHistoryRecorder.removedType(member.id), at: 5)
    defer { statement.reset() }
    var owners: [ExactText: Int64] = [:]
    while try statement.step() {
      if statement.int64(2) != 0 { return nil }
      guard !statement.isNull(1), let revision = touched[ExactText(statement.string(0))] else {
        continue
      }
      let owner = ExactText(statement.string(1))
      owners[owner] = max(revision, owners[owner] ?? 0)
    }
    return owners
  }
}
