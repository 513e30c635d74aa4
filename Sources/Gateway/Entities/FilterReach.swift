package import Filtering
package import Model
package import Upstream

/// The entities that a caller's filters and orders can be evaluated on besides the listed ones.
package struct FilterReach: Sendable {
  package let graph: EntityGraph
  private let local: LocalSchema
  private var gate: StoredDataGate?

  package init(graph: EntityGraph, local: LocalSchema, gate: StoredDataGate) {
    self.graph = graph
    self.local = local
    self.gate = gate
  }

  private init() {
    graph = .none
    local = .none
    gate = nil
  }

  /// Only the listed entities themselves.
  package static let none = FilterReach()

  /// The same for a caller who was admitted before.
  var admitted: FilterReach {
    var reach = self
    reach.gate = nil
    return reach
  }

  /// Throws if the caller may not read one of the types: a filter that names a value would tell it.
  func admit(_ caller: Caller, to types: Set<String>) throws(Failure) {
    for name in types.sorted() {
      if let type = local.types[name] {
        try OwnDataGate.admit(caller, to: type)
      } else {
        try gate?.admit(caller, types: [name])
      }
    }
  }
}

extension EntityGraph {
  /// The relationships of all entity types: those of fields, and those that settings define.
  package init(_ catalogue: EntityCatalogue, links: [EntityLink] = []) {
    let types = Dictionary(
      catalogue.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var relationships: [String: [String: Relationship]] = [:]
    for (name, type) in types {
      for (field, shape) in catalogue.shapes[name]?.fields ?? [:] {
        guard let isToMany = shape.isToMany,
          case .object(let target, let isAbstract, _) = shape.value
        else { continue }
        let hasColumn = type.columns.contains { $0.name == field && $0.kind == .reference }
        let isOfSeveral = isAbstract || types[target] == nil
        let possible = (catalogue.possibleTypes[target] ?? []).filter { types[$0] != nil }
        relationships[name, default: [:]][field] =
          switch (isToMany, isOfSeveral) {
          case (true, true): .toManyOf(possible)
          case (true, false): .toMany(target)
          case (false, _) where !hasColumn: .withArguments
          case (false, true): .toOneOf(possible)
          case (false, false): .toOne(target)
          }
      }
    }
    for link in links where types[link.owner] != nil && types[link.type] != nil {
      relationships[link.owner, default: [:]][link.name] = .linked(
        type: link.type, field: link.field)
    }
    // A list of several types has the relationships that they all have.
    for (name, possible) in catalogue.possibleTypes where types[name] == nil {
      let all = possible.filter { types[$0] != nil }.map { relationships[$0] ?? [:] }
      guard let first = all.first else { continue }
      relationships[name] = first.filter { field, relationship in
        all.allSatisfy { $0[field] == relationship }
      }
    }
    self.init(types: catalogue.types, relationships: relationships)
  }
}
