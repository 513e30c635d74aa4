import Filtering
import Model

extension FilterRecheck {
  /// Entities that are loaded and evaluated together.
  private static let batchMax = 500

  /// Returns the keys of all entities that the writer sees and that match a filter now.
  ///
  /// These have rows in several scopes, and evictions are not in the change log. So the filter is evaluated
  /// again on the entities that matched and on those that changed since the snapshot, one by one.
  ///
  /// - Parameters: see ``keys(of:_:_:scope:canBeEvicted:pointer:)``.
  func visibleKeys(
    of place: Int, _ type: EntityType, _ filter: Filter, pointer: String
  ) throws -> [String] {
    let table = try context.table(of: type.name)
    let scopes = try relatedScopes()
    if try hasRelatedChange(filter) {
      return try counted(
        try matching(filter, type, table, scopes: scopes, members: nil), pointer)
    }
    var known: Set<ExactText> = []
    var candidates = matches.keys[place] ?? []
    for key in candidates { known.insert(ExactText(key)) }
    for scope in scopes.all {
      for key in try changedKeys(table, scope: scope)
      where known.insert(ExactText(key)).inserted {
        candidates.append(key)
      }
    }
    let states = ObservedStates(
      ObservedCondition(type: type, filter: filter), table, scopes: scopes, context.catalogue,
      context.database)
    let loader = EntityLoader(context.database, scopes: scopes, context.memory.touches)
    var keys: [String] = []
    for start in stride(from: 0, to: candidates.count, by: Self.batchMax) {
      let batch = Array(candidates[start..<min(start + Self.batchMax, candidates.count)])
      let passing = try watched {
        var layers: [ExactText: [[UInt8]]] = [:]
        for (key, loaded) in zip(batch, try loader.load(batch, from: table)) {
          if let loaded, !loaded.record.isDeleted { layers[ExactText(key)] = loaded.record.layers }
        }
        return try states.passing(layers)
      }
      keys += batch.filter { passing.contains(ExactText($0)) }
    }
    return try counted(keys, pointer)
  }
}
