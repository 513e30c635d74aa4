/// Some entities of several types and what of them is wanted: the members of a list whose declared
/// type is a union or an interface.
///
/// Filter and order name columns that all its types have.
package struct MixedQuery: Sendable {
  /// Their own order where ``order`` has no terms.
  package let members: [EntityKey]
  package var filter: Filter?
  package var order: EntityOrder
  package var limit: Int
  package var offset: Int
  /// Where the page before this one ended: the key is the ``tieBreak(of:)``.
  package var after: EntityPosition?
  package var wantsTotal: Bool
  package var wantsSections: Bool

  package init(members: [EntityKey], like query: EntityQuery) {
    self.members = members
    filter = query.filter
    order = query.order
    limit = query.limit
    offset = query.offset
    after = query.after
    wantsTotal = query.wantsTotal
    wantsSections = query.section != nil
  }

  /// A text that no two entities share, to order by where all else is equal. Never taken apart.
  package static func tieBreak(of key: EntityKey) -> String {
    "\(key.type.utf8.count):\(key.type)\(key.key)"
  }
}
