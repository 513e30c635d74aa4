/// Which entities of a type, and in which order: what a collection asks of the store.
package struct EntityQuery: Sendable {
  package let type: EntityType
  package var filter: Filter?
  package var order: EntityOrder
  /// Only these, and in this order where ``order`` has no terms: a relationship's members.
  package var members: [String]?
  package var limit: Int
  package var offset: Int
  /// Where the page before this one ended.
  package var after: EntityPosition?
  package var wantsTotal: Bool
  /// The column of the sections, which the order begins with.
  package var section: String?

  package init(
    type: EntityType, filter: Filter? = nil, order: EntityOrder = .byKey,
    members: [String]? = nil, limit: Int = 50, offset: Int = 0, after: EntityPosition? = nil,
    wantsTotal: Bool = false, section: String? = nil
  ) {
    self.type = type
    self.filter = filter
    self.order = order
    self.members = members
    self.limit = limit
    self.offset = offset
    self.after = after
    self.wantsTotal = wantsTotal
    self.section = section
  }
}

/// The place of an entity in an order: its values there, and its key. Good whatever becomes of the
/// entity, since what follows is found by comparing and not by counting.
package struct EntityPosition: Hashable, Sendable {
  /// Of each term of the order.
  package let values: [FilterValue]
  package let key: String

  package init(values: [FilterValue], key: String) {
    self.values = values
    self.key = key
  }
}

/// A page of a collection as one viewer sees it, from one snapshot.
package struct EntityPage: Sendable {
  package struct Item: Sendable {
    package let key: EntityKey
    package let record: EntityRecord

    package init(key: EntityKey, record: EntityRecord) {
      self.key = key
      self.record = record
    }
  }

  /// Neighbours in the order with the same value of a column.
  package struct Section: Hashable, Sendable {
    /// The value as text; nil for null.
    package let name: String?
    /// Entities before it in the whole list.
    package let offset: Int
    package let count: Int

    package init(name: String?, offset: Int, count: Int) {
      self.name = name
      self.offset = offset
      self.count = count
    }
  }

  package var items: [Item]
  /// Where the next page begins; nil at the end.
  package var next: EntityPosition?
  package var total: Int?
  package var sections: [Section]?

  package init(
    items: [Item], next: EntityPosition? = nil, total: Int? = nil, sections: [Section]? = nil
  ) {
    self.items = items
    self.next = next
    self.total = total
    self.sections = sections
  }
}
