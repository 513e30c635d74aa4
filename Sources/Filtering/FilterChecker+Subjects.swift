import Model

/// What the predicates of a filter are about: the columns, lists and members that key paths stand for.
extension FilterChecker {
  /// What a predicate is about, and the column whose kind its values have.
  struct Known {
    let operand: FilterOperand
    let column: EntityType.Column
  }

  /// - Returns: one, or one for each path that a path through unions and interfaces stands for.
  mutating func known(_ subject: FilterSyntax.Column) -> [Known]? {
    guard let all = resolve(subject) else { return nil }
    var known: [Known] = []
    for found in all {
      guard let one = self.known(subject, found) else { return nil }
      known.append(one)
    }
    return known
  }

  private mutating func known(
    _ subject: FilterSyntax.Column, _ found: PathResolver.Found
  ) -> Known? {
    switch (found, subject.value.function) {
    case (.column(let path, let column), nil):
      return Known(operand: .field(path), column: column)
    case (.column(let path, let column), let function?):
      guard isText(column, subject, needs: function.rawValue + "()") else { return nil }
      return switch function {
      case .lower: Known(operand: .lower(path), column: .init(name: column.name, kind: .text))
      case .length: Known(operand: .length(path), column: .init(name: column.name, kind: .integer))
      }
    case (.count(let members), nil):
      for _ in members { countMembers(subject.offset) }
      return Known(
        operand: members.count == 1 ? .count(members[0]) : .total(members),
        column: EntityType.Column(name: subject.value.text, kind: .integer))
    case (.scalarCount(let list), nil):
      return Known(
        operand: .scalarCount(list),
        column: EntityType.Column(name: subject.value.text, kind: .integer))
    case (.scalars, _), (.scalarCount, _):
      note(
        subject.offset,
        "\(subject.value.text) is about a list of values: write ANY or NONE before the list, or "
          + ".count after it for their number")
      return nil
    case (.members, _), (.count, _), (.through, _):
      note(
        subject.offset,
        "\(subject.value.text) leads to many entities: write ANY or NONE before a field of theirs, "
          + "or .count for their number")
      return nil
    }
  }

  /// Returns the paths of `IS NULL` and `IS MISSING`, which also take lists: one, or one for each type.
  mutating func state(_ subject: FilterSyntax.Column) -> [EntityPath]? {
    guard subject.value.function == nil else {
      return known(subject)?.compactMap(\.operand.path)
    }
    guard let all = resolve(subject) else { return nil }
    var paths: [EntityPath] = []
    for found in all {
      guard let path = state(subject, found) else { return nil }
      paths.append(path)
    }
    return paths
  }

  private mutating func state(
    _ subject: FilterSyntax.Column, _ found: PathResolver.Found
  ) -> EntityPath? {
    switch found {
    case .column(let path, _): return path
    case .members(let members) where members.allSatisfy { $0.link == nil }:
      return members.first.map { EntityPath(hops: $0.hops, field: $0.field, isList: true) }
    case .scalars(let list, _): return list.path
    case .members, .count, .scalarCount:
      note(subject.offset, "\(subject.value.text) is never null or missing")
      return nil
    case .through:
      return known(subject, found)?.operand.path
    }
  }

  mutating func resolve(_ subject: FilterSyntax.Column) -> [PathResolver.Found]? {
    do throws(PathResolver.Fault) {
      let found = try PathResolver(graph: graph, hopsBefore: hopsBefore)
        .resolve(subject.value.names, from: type)
      for found in found { follow(found.hops, subject.offset) }
      return found
    } catch {
      note(subject.offset, error.message)
      return nil
    }
  }

  /// Counts the relationships of a path towards the limit, each once.
  private mutating func follow(_ hops: [EntityPath.Hop], _ offset: Int) {
    guard !isInMembers else { return }
    let before = relationships.count
    for end in hops.indices { relationships.insert(Array(hops[...end])) }
    if before <= Self.relationshipsMax, relationships.count > Self.relationshipsMax {
      note(offset, "the filter follows more than \(Self.relationshipsMax) relationships")
    }
  }

  mutating func countMembers(_ offset: Int) {
    membersCount += 1
    if membersCount == Self.membersMax + 1 {
      note(offset, "more than \(Self.membersMax) predicates about to-many relationships and lists")
    }
  }
}
