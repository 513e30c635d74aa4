import Model

/// Finds the columns and relationships that the names of a key path stand for.
///
/// A path through a relationship to a union or an interface stands for several: one for each type that has
/// what comes after it. An entity is on one of them at most.
struct PathResolver {
  enum Found {
    case column(EntityPath, EntityType.Column)
    /// The path ends with a to-many relationship, of which there is a path for each type of its members.
    case members([MemberPath])
    /// `cast.count`.
    case count([MemberPath])
    /// A path through the members of a to-many relationship: what comes after it.
    case through([MemberPath], rest: [String])
    /// The path ends with a list of scalars, whose values are described as a column.
    case scalars(ScalarsPath, EntityType.Column)
    /// `tags.count`.
    case scalarCount(ScalarsPath)

    /// The relationships before its last name.
    var hops: [EntityPath.Hop] {
      switch self {
      case .column(let path, _): path.hops
      case .members(let members), .count(let members), .through(let members, _):
        members.first?.hops ?? []
      case .scalars(let list, _), .scalarCount(let list): list.hops
      }
    }
  }

  /// Why a path cannot be used.
  struct Fault: Error {
    let message: String
  }

  /// Limit of the paths that one stands for: each is a look-up for every row.
  static let alternativesMax = 16

  let graph: EntityGraph
  /// Relationships that were followed to the type that paths begin at.
  var hopsBefore = 0

  /// - Returns: one, or one for each choice of types.
  func resolve(_ names: [String], from type: EntityType) throws(Fault) -> [Found] {
    guard names.count - 1 + hopsBefore <= EntityPath.hopsMax else {
      throw Fault(
        message: "\(names.joined(separator: ".")) has more than \(EntityPath.hopsMax) relationships"
      )
    }
    let found = try walk(names, from: type, after: [])
    let count = found.reduce(0) {
      if case .through(let members, _) = $1 { $0 + members.count } else { $0 + 1 }
    }
    guard count <= Self.alternativesMax else {
      throw Fault(
        message: "\(names.joined(separator: ".")) leads to \(count) types, at most "
          + "\(Self.alternativesMax) are allowed")
    }
    return found
  }

  private static let count = "count"

  private func walk(
    _ names: [String], from type: EntityType, after hops: [EntityPath.Hop]
  ) throws(Fault) -> [Found] {
    guard let name = names.first else { throw Fault(message: "a column is missing") }
    let rest = Array(names.dropFirst())
    if rest.isEmpty, let column = type.columns.first(where: { $0.name == name }) {
      return [.column(EntityPath(hops: hops, field: name), column)]
    }
    if let list = type.lists.first(where: { $0.name == name }) {
      let path = ScalarsPath(hops: hops, field: name, kind: list.kind)
      if rest.isEmpty { return [.scalars(path, list)] }
      guard rest == [Self.count] else {
        throw Fault(message: "\(name) of \(type.name) is a list of values, which have no fields")
      }
      return [.scalarCount(path)]
    }
    switch graph.relationship(name, of: type.name) {
    case .toOne(let target):
      guard let next = graph.type(named: target), !rest.isEmpty else {
        throw unknown(name, in: type, isLast: rest.isEmpty)
      }
      return try walk(
        rest, from: next, after: hops + [EntityPath.Hop(field: name, target: target)])
    case .toOneOf(let targets):
      guard !rest.isEmpty else { throw unknown(name, in: type, isLast: true) }
      var found: [Found] = []
      for target in known(targets) {
        let hop = EntityPath.Hop(field: name, target: target.name, isNarrowed: true)
        found += alternatives(rest, from: target, after: hops + [hop])
      }
      guard !found.isEmpty else { throw nowhere(rest, after: name, of: type, targets) }
      return found
    case .toMany(let target):
      return [found([MemberPath(hops: hops, field: name, target: target)], rest)]
    case .linked(let target, let field):
      return [found([MemberPath(hops: hops, field: name, target: target, link: field)], rest)]
    case .toManyOf(let targets):
      let isAll = rest.isEmpty || rest == [Self.count]
      let having = known(targets).filter {
        isAll || !alternatives(rest, from: $0, after: []).isEmpty
      }
      guard !having.isEmpty else { throw nowhere(rest, after: name, of: type, targets) }
      let members = having.map {
        MemberPath(hops: hops, field: name, target: $0.name, isNarrowed: true)
      }
      return [found(members, rest)]
    case .withArguments:
      throw Fault(
        message: "\(name) of \(type.name) has arguments: a path cannot continue after it")
    case nil:
      throw unknown(name, in: type, isLast: rest.isEmpty)
    }
  }

  private func known(_ targets: [String]) -> [EntityType] {
    targets.compactMap { graph.type(named: $0) }
  }

  /// Returns what names stand for from one of several types; nothing if it does not have them.
  private func alternatives(
    _ names: [String], from type: EntityType, after hops: [EntityPath.Hop]
  ) -> [Found] {
    (try? walk(names, from: type, after: hops)) ?? []
  }

  private func found(_ members: [MemberPath], _ rest: [String]) -> Found {
    if rest.isEmpty { return .members(members) }
    return rest == [Self.count] ? .count(members) : .through(members, rest: rest)
  }

  // MARK: Faults

  private func nowhere(
    _ rest: [String], after name: String, of type: EntityType, _ targets: [String]
  ) -> Fault {
    let types = known(targets).map(\.name)
    guard !types.isEmpty else {
      return Fault(message: "\(name) of \(type.name) leads to no type that is stored")
    }
    return Fault(
      message:
        "none of the types of \(name) of \(type.name) has \(rest.joined(separator: ".")): it "
        + "leads to \(types.joined(separator: ", "))")
  }

  private func unknown(_ name: String, in type: EntityType, isLast: Bool) -> Fault {
    if isLast {
      return Fault(
        message: "\(type.name) has no column \(name); it has "
          + (type.columns + type.lists).map(\.name).joined(separator: ", "))
    }
    let known = graph.names(ofRelationshipsOf: type.name)
    return Fault(
      message: "\(type.name) has no relationship \(name); it has "
        + (known.isEmpty ? "none" : known.joined(separator: ", ")))
  }
}
