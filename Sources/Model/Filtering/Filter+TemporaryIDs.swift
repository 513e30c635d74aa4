/// Filters find by a temporary id what its entity is by now: as in variables, a value gives way that
/// is such an id and nothing else. Patterns of `LIKE` are no ids.
extension Filter {
  /// The temporary ids among its values.
  package var temporaryIDs: Set<TemporaryID> {
    var found: Set<TemporaryID> = []
    condition.forEachValue { value in
      if case .text(let text) = value, let id = TemporaryID(text) { found.insert(id) }
    }
    return found
  }

  /// The same filter where ids have become known.
  ///
  /// Equality still holds of the temporary id too: what an entity was while that was all it had is
  /// still compared with what it became.
  package func resolving(_ known: [TemporaryID: EntityKey]) -> Filter {
    known.isEmpty ? self : Filter(condition: condition.resolving(known))
  }
}

extension FilterCondition {
  fileprivate func forEachValue(_ body: (FilterValue) -> Void) {
    switch self {
    case .and(let left, let right), .or(let left, let right):
      left.forEachValue(body)
      right.forEachValue(body)
    case .not(let inner): inner.forEachValue(body)
    case .comparison(_, _, let value): body(value)
    case .oneOf(_, let values): values.forEach(body)
    case .between(_, let low, let high):
      body(low)
      body(high)
    case .columns, .truth, .like, .isNull: break
    }
  }

  fileprivate func resolving(_ known: [TemporaryID: EntityKey]) -> FilterCondition {
    switch self {
    case .and(let left, let right): .and(left.resolving(known), right.resolving(known))
    case .or(let left, let right): .or(left.resolving(known), right.resolving(known))
    case .not(let inner): .not(inner.resolving(known))
    case .comparison(let column, let comparison, let value):
      switch (comparison, value.real(known)) {
      case (_, nil): self
      case (.equal, let real?): .oneOf(column: column, [value, real])
      case (.notEqual, let real?): .not(.oneOf(column: column, [value, real]))
      case (_, let real?): .comparison(column: column, comparison, real)
      }
    case .oneOf(let column, let values):
      .oneOf(column: column, values + values.compactMap { $0.real(known) })
    case .between(let column, let low, let high):
      .between(column: column, low.real(known) ?? low, high.real(known) ?? high)
    case .columns, .truth, .like, .isNull: self
    }
  }
}

extension FilterValue {
  fileprivate func real(_ known: [TemporaryID: EntityKey]) -> FilterValue? {
    guard case .text(let text) = self, let id = TemporaryID(text) else { return nil }
    return known[id].map { .text($0.key) }
  }
}
