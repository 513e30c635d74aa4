import Model

/// What a result depends on beside the entities it refers to, and what can be invalidated as a
/// whole: one row each in `dependency` and `invalidation`.
enum DependencyKind: Int64 {
  case type = 0
  case tag = 1
  /// A later page of a list: due once the list's first page changes.
  case laterPage = 2
  case operation = 3
  /// An entity that was purged: there is no row to mark.
  case entity = 4

  /// The name of an entity in `invalidation`: a length-prefixed pair, never taken apart.
  static func name(of key: EntityKey) -> String {
    "\(key.type.utf8.count):\(key.type)\(key.key)"
  }

  /// The name of a paginated list in `dependency` and `page`.
  static func name(of list: ResultWrite.PageList) -> String {
    let owner = list.owner.map(name(of:)) ?? ""
    return "\(owner.utf8.count):\(owner)\(list.page.family)"
  }
}
