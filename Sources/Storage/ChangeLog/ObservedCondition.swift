package import Model

/// What must hold of a type's entities for an observer to be told of them.
package struct ObservedCondition: Hashable, Sendable {
  package let type: EntityType
  package let filter: Filter

  package init(type: EntityType, filter: Filter) {
    self.type = type
    self.filter = filter
  }
}
