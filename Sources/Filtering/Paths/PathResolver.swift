import Model

/// Finds the columns and relationships that the names of a key path stand for.
struct PathResolver {
  enum Found {
    case column(EntityPath, EntityType.Column)
    /// The path ends with a to-many relationship.
    case members(MemberPath)
    /// `cast.count`.
    case count(MemberPath)
    /// A path through the members of a to-many relationship: what comes after it.
    case through(MemberPath, rest: [String])
    /// The path ends with a list of scalars, whose values are described as a column.
    case scalars(ScalarsPath, EntityType.Column)
    /// `tags.count`.
    case scalarCount(ScalarsPath)
  }

  /// Why a path cannot be used.
  struct Fault: Error {
    let message: String
  }

  let graph: EntityGraph
  /// Relationships that were followed to the type that paths begin at.
  var hopsBefore = 0

  func resolve(_ names: [String], from type: EntityType) throws(Fault) -> Found {
    guard names.count - 1 + hopsBefore <= EntityPath.hopsMax else {
      throw Fault(
        message: "\(names.joined(separator: ".")) has more than \(EntityPath.hopsMax) relationships"
      )
    }
    return try walk(names, from: type)
  }

  private static let count = "count"

  private func walk(_ names: [String], from start: EntityType) throws(Fault) -> Found {
    var type = start
    var hops: [EntityPath.Hop] = []
    for (index, name) in names.enumerated() {
      let rest = Array(names[(index + 1)...])
      if rest.isEmpty, let column = type.columns.first(where: { $0.name == name }) {
        return .column(EntityPath(hops: hops, field: name), column)
      }
      if let list = type.lists.first(where: { $0.name == name }) {
        let path = ScalarsPath(hops: hops, field: name, kind: list.kind)
        if rest.isEmpty { return .scalars(path, list) }
        guard rest == [Self.count] else {
          throw Fault(message: "\(name) of \(type.name) is a list of values, which have no fields")
        }
        return .scalarCount(path)
      }
      switch graph.relationship(name, of: type.name) {
      case .toOne(let target):
        guard let next = graph.type(named: target), !rest.isEmpty else {
          throw unknown(name, in: type, isLast: rest.isEmpty)
        }
        hops.append(EntityPath.Hop(field: name, target: target))
        type = next
      case .toMany(let target):
        return found(MemberPath(hops: hops, field: name, target: target), rest)
      case .linked(let target, let field):
        return found(MemberPath(hops: hops, field: name, target: target, link: field), rest)
      case .ofSeveralTypes:
        throw Fault(
          message: "\(name) of \(type.name) refers to entities of several types: a path cannot "
            + "continue after it")
      case .withArguments:
        throw Fault(
          message: "\(name) of \(type.name) has arguments: a path cannot continue after it")
      case nil:
        throw unknown(name, in: type, isLast: rest.isEmpty)
      }
    }
    throw Fault(message: "a column is missing")
  }

  private func found(_ members: MemberPath, _ rest: [String]) -> Found {
    if rest.isEmpty { return .members(members) }
    return rest == [Self.count] ? .count(members) : .through(members, rest: rest)
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
