/// A checked condition on an entity: its columns exist, and its values are of their kinds.
///
/// Each is true, false or unknown, as in SQL: what is said of a field that is null or was never fetched
/// is unknown, and an entity is found if the whole condition is true.
package indirect enum FilterCondition: Hashable, Sendable {
  case and(FilterCondition, FilterCondition)
  case or(FilterCondition, FilterCondition)
  case not(FilterCondition)
  case comparison(column: FilterOperand, FilterComparison, FilterValue)
  case columns(FilterOperand, FilterComparison, FilterOperand)
  case truth(column: EntityPath)
  case oneOf(column: FilterOperand, [FilterValue])
  case between(column: FilterOperand, FilterValue, FilterValue)
  case like(column: FilterOperand, pattern: String, escape: String?)
  case holds(column: FilterOperand, TextMatch)
  /// Unknown for a field that was never fetched.
  case isNull(column: EntityPath)
  /// Whether the field was never fetched: the only condition that such a field can meet.
  case isMissing(column: EntityPath)
  /// Whether some member meets the condition, which is about the member. A list that is null has none.
  case any(MemberPath, FilterCondition)
  /// Whether some value in a list of scalars meets the condition, in which the list's field stands for the
  /// value.
  case anyScalar(ScalarsPath, FilterCondition)
  /// The same condition by the paths that a path through unions and interfaces stands for: at most one of
  /// them is not unknown, unless all agree.
  case firstKnown([FilterCondition])
}

extension FilterCondition {
  /// What a condition is about: fields, possibly of related entities, and to-many relationships.
  package struct Subjects: Sendable {
    package fileprivate(set) var paths: [EntityPath] = []
    /// Fields whose presence matters, not only their value.
    package fileprivate(set) var statePaths: [EntityPath] = []
    package fileprivate(set) var members: [MemberPath] = []
    /// Lists of scalars.
    package fileprivate(set) var scalars: [ScalarsPath] = []

    package init() {}

    fileprivate mutating func add(_ operand: FilterOperand) {
      switch operand {
      case .field(let path), .lower(let path), .length(let path): paths.append(path)
      case .count(let members): self.members.append(members)
      case .total(let all): members += all
      case .scalarCount(let list): scalars.append(list)
      }
    }
  }

  /// Its subjects without those of conditions on members.
  package var subjects: Subjects {
    var subjects = Subjects()
    collect(into: &subjects)
    return subjects
  }

  private func collect(into subjects: inout Subjects) {
    switch self {
    case .and(let left, let right), .or(let left, let right):
      left.collect(into: &subjects)
      right.collect(into: &subjects)
    case .not(let inner): inner.collect(into: &subjects)
    case .columns(let left, _, let right):
      subjects.add(left)
      subjects.add(right)
    case .comparison(let operand, _, _), .oneOf(let operand, _), .between(let operand, _, _),
      .like(let operand, _, _), .holds(let operand, _):
      subjects.add(operand)
    case .truth(let path): subjects.paths.append(path)
    case .isNull(let path), .isMissing(let path):
      subjects.paths.append(path)
      subjects.statePaths.append(path)
    case .any(let members, _): subjects.members.append(members)
    case .anyScalar(let list, _): subjects.scalars.append(list)
    case .firstKnown(let conditions):
      for condition in conditions { condition.collect(into: &subjects) }
    }
  }

  /// Whether it is about fields of the entity itself alone.
  package var isOwn: Bool {
    let subjects = subjects
    return subjects.members.isEmpty && subjects.paths.allSatisfy(\.hops.isEmpty)
      && subjects.scalars.allSatisfy(\.hops.isEmpty)
  }

  /// The types of related entities that it is evaluated on.
  package var reachedTypes: Set<String> {
    let subjects = subjects
    var types = Set(subjects.paths.flatMap { $0.hops.map(\.target) })
    for list in subjects.scalars { types.formUnion(list.hops.map(\.target)) }
    for members in subjects.members {
      types.formUnion(members.hops.map(\.target))
      types.insert(members.target)
    }
    forEachMembers { types.formUnion($1.reachedTypes) }
    return types
  }

  /// Calls `body` with the members and the condition of each ``any(_:_:)``.
  package func forEachMembers(_ body: (MemberPath, FilterCondition) -> Void) {
    switch self {
    case .and(let left, let right), .or(let left, let right):
      left.forEachMembers(body)
      right.forEachMembers(body)
    case .not(let inner): inner.forEachMembers(body)
    case .any(let members, let inner): body(members, inner)
    case .firstKnown(let conditions):
      for condition in conditions { condition.forEachMembers(body) }
    default: break
    }
  }
}
