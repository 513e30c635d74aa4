package import Model

/// The way from an entity to a field: to-one relationships, then the field (`maker.lastName`).
package struct EntityPath: Hashable, Sendable {
  /// A to-one relationship.
  package struct Hop: Hashable, Sendable {
    package let field: String
    /// The type that it leads to.
    package let target: String
    /// Whether the relationship is to a union or an interface, of whose entities the hop leads to those of
    /// ``target`` alone. A path through it stands for one hop for each type.
    package let isNarrowed: Bool

    package init(field: String, target: String, isNarrowed: Bool = false) {
      self.field = field
      self.target = target
      self.isNarrowed = isNarrowed
    }
  }

  /// The maximum number of relationships in a path, a to-many one included.
  package static let hopsMax = 3

  package let hops: [Hop]
  /// A column of the last type, or, in `IS NULL` and `IS MISSING`, a to-many relationship.
  package let field: String
  /// Whether the field is a to-many relationship.
  package let isList: Bool
  /// Whether the field is a list of scalars, which has no column.
  package let isOfScalars: Bool

  package init(
    hops: [Hop] = [], field: String, isList: Bool = false, isOfScalars: Bool = false
  ) {
    self.hops = hops
    self.field = field
    self.isList = isList
    self.isOfScalars = isOfScalars
  }
}

extension EntityPath: CustomStringConvertible {
  package var description: String { (hops.map(\.field) + [field]).joined(separator: ".") }
}

/// A field of the entity itself.
extension EntityPath: ExpressibleByStringLiteral {
  package init(stringLiteral field: String) { self.init(field: field) }
}

/// The members of a to-many relationship, possibly of an entity that to-one relationships lead to.
package struct MemberPath: Hashable, Sendable {
  package let hops: [EntityPath.Hop]
  package let field: String
  /// The type of the members.
  package let target: String
  /// The members' field that holds their owner's key; nil if the owner has a list of them.
  package let link: String?
  /// Whether the list has entities of several types, of which the members are those of ``target`` alone.
  package let isNarrowed: Bool

  package init(
    hops: [EntityPath.Hop] = [], field: String, target: String, link: String? = nil,
    isNarrowed: Bool = false
  ) {
    self.hops = hops
    self.field = field
    self.target = target
    self.link = link
    self.isNarrowed = isNarrowed
  }
}

extension MemberPath {
  /// The type of the members, if the list has others too.
  package var narrowedType: String? { isNarrowed ? target : nil }
}

/// The values of a list of scalars, possibly of an entity that to-one relationships lead to.
package struct ScalarsPath: Hashable, Sendable {
  package let hops: [EntityPath.Hop]
  package let field: String
  package let kind: EntityType.Column.Kind

  package init(hops: [EntityPath.Hop] = [], field: String, kind: EntityType.Column.Kind) {
    self.hops = hops
    self.field = field
    self.kind = kind
  }

  /// The list itself.
  package var path: EntityPath { EntityPath(hops: hops, field: field, isOfScalars: true) }
}

/// The value that a predicate is about.
package enum FilterOperand: Hashable, Sendable {
  case field(EntityPath)
  /// `lower(…)`: a text in small letters.
  case lower(EntityPath)
  /// `length(…)`: the number of a text's characters (Unicode scalars).
  case length(EntityPath)
  /// The number of members that the caller sees.
  case count(MemberPath)
  /// The same of a list of several types, for each of which it has a path.
  case total([MemberPath])
  /// The number of values in a list of scalars, nulls included.
  case scalarCount(ScalarsPath)

  package var path: EntityPath? {
    switch self {
    case .field(let path), .lower(let path), .length(let path): path
    case .count, .total, .scalarCount: nil
    }
  }
}

extension FilterOperand: ExpressibleByStringLiteral {
  package init(stringLiteral field: String) { self = .field(EntityPath(field: field)) }
}
