package import Model

/// A query for the members of one relationship of several owners: those of all entities of a page at
/// once.
package struct RelatedQuery: Sendable {
  package enum Source: Sendable {
    /// Listed by key, for each owner in stored order.
    case members([[EntityKey]])
    /// All entities of a type that have an owner's value in a column, for each owner.
    case naming(type: EntityType, column: String, values: [FilterValue])
  }

  package let source: Source
  /// Without terms, listed members are in stored order, others by key.
  package let order: EntityOrder
  /// The number of members of one owner.
  package let limit: Int

  package init(_ source: Source, order: EntityOrder = .byKey, limit: Int) {
    self.source = source
    self.order = order
    self.limit = limit
  }
}

/// The members of one owner that its viewer sees.
package struct RelatedList: Hashable, Sendable {
  /// The indexes of the members in ``RelatedEntities/entities``.
  package var places: [Int]
  /// Whether there are more than the query asked for.
  package var hasMore: Bool
  /// Whether the first listed member was deleted, so that a relationship to one entity leads to none.
  package var isFirstDeleted: Bool

  package init(places: [Int] = [], hasMore: Bool = false, isFirstDeleted: Bool = false) {
    self.places = places
    self.hasMore = hasMore
    self.isFirstDeleted = isFirstDeleted
  }
}

/// The result of some ``RelatedQuery``s, from one snapshot.
package struct RelatedEntities: Sendable {
  package typealias Entity = (key: EntityKey, record: EntityRecord)

  /// For each query, in its order, the members of each owner.
  package let lists: [[RelatedList]]
  /// The members of all lists, each once.
  package let entities: [Entity]

  package init(lists: [[RelatedList]], entities: [Entity]) {
    self.lists = lists
    self.entities = entities
  }
}
