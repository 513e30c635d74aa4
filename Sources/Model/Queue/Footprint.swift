/// What a mutation touches: two that meet go in the order they came.
///
/// It holds the object, the objects it refers to, the references its optimistic fields set and the
/// ones these replace, every temporary id it mentions, and those it creates.
package struct Footprint: Hashable, Sendable {
  /// One thing touched. An entity that is named by a temporary id is that id, whatever its type.
  package enum Token: Hashable, Sendable {
    case entity(EntityKey)
    case temporary(TemporaryID)

    package init(_ key: EntityKey) {
      if let id = TemporaryID(key.key) { self = .temporary(id) } else { self = .entity(key) }
    }
  }

  /// Each once, in the order first told.
  package private(set) var tokens: [Token]
  package let creates: [TemporaryEntity]

  package static let empty = Footprint(tokens: [], creates: [])

  package init(tokens: [Token], creates: [TemporaryEntity]) {
    let all = tokens + creates.map { .temporary($0.id) }
    var seen: Set<Token> = []
    // Most have their object alone.
    self.tokens = all.count > 1 ? all.filter { seen.insert($0).inserted } : all
    self.creates = creates
  }

  /// - Parameters:
  ///   - references: `refs`, and the references in optimistic fields with the values they replace.
  ///   - mentions: the temporary ids in the variables.
  package init(
    object: EntityKey?, references: some Sequence<EntityKey> = [],
    mentions: some Sequence<TemporaryID> = [], creates: [TemporaryEntity] = []
  ) {
    self.init(
      tokens: (object.map { [$0] } ?? []).map { Token($0) }
        + references.map { Token($0) } + mentions.map { .temporary($0) },
      creates: creates)
  }

  package func meets(_ other: Footprint) -> Bool {
    tokens.contains { other.tokens.contains($0) }
  }

  package func mentions(_ id: TemporaryID) -> Bool { tokens.contains(.temporary(id)) }

  package func isCreating(_ id: TemporaryID) -> Bool { creates.contains { $0.id == id } }

  /// The temporary ids it needs from others before it can be sent.
  package var needs: [TemporaryID] {
    tokens.compactMap { token in
      guard case .temporary(let id) = token, !isCreating(id) else { return nil }
      return id
    }
  }

  /// The same with the real entities in the place of temporary ids that became known. An id it
  /// creates itself stays.
  package func resolving(_ known: [TemporaryID: EntityKey]) -> Footprint {
    guard !known.isEmpty else { return self }
    return Footprint(
      tokens: tokens.map { token in
        guard case .temporary(let id) = token, let entity = known[id] else { return token }
        return .entity(entity)
      },
      creates: creates)
  }
}
