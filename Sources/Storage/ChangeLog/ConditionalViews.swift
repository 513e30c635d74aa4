import Model

/// A section of the log for an observer with a condition: an entity that enters the condition is
/// new to it, and one that leaves it is gone.
///
/// Compares with the state the reader saw last: that at the reading's origin, or at the end of the
/// last page.
struct ConditionalViews {
  private let observed: ObservedStates
  private let origin: LogOrigin
  private let position: LogPosition

  init(_ observed: ObservedStates, origin: LogOrigin, position: LogPosition) {
    self.observed = observed
    self.origin = origin
    self.position = position
  }

  /// Returns the states to report by key; entities that are absent are not reported.
  ///
  /// - Parameter touched: entities that a related one's change concerns.
  func states(
    of entities: [ExactText: LayeredView], touched: Set<ExactText> = []
  ) throws -> [ExactText: ChangePage.VisibleState] {
    guard !entities.isEmpty else { return [:] }
    let isIn = try observed.passing(entities.mapValues(\.contents))
    let answers = try earlierRevisions.map {
      try observed.answers(entities, at: $0, isFirstPage: isFirstPage)
    }
    var states: [ExactText: ChangePage.VisibleState] = [:]
    for (key, layers) in entities {
      let earlier = answers.map { $0[key] ?? .no }
      if isIn.contains(key) {
        states[key] = .present(
          EntityRecord(layers: layers.contents),
          isNew: earlier.isEmpty || earlier.contains { $0 != .yes })
      } else if isSnapshot
        ? touched.contains(key) || hasChangedSinceStart(layers)
        : earlier.contains(where: { $0 != .no })
      {
        states[key] = layers.contents.isEmpty ? layers.reasonGone.map { .gone($0) } : .gone(.hidden)
      }
    }
    return states
  }

  /// The revisions at which the reader can have seen a state; none for a snapshot. Of the revision
  /// in which the last page ended, a part has been reported.
  private var earlierRevisions: [Int64] {
    guard case .delta(let base) = origin else { return [] }
    let last = position.revision.value
    let revisions = position.place.isEmpty ? [base.value, last] : [base.value, last - 1, last]
    return Array(Set(revisions))
  }

  /// Whether the reader has only seen the state at the reading's origin.
  private var isFirstPage: Bool {
    origin == .delta(base: position.revision) && position.place.isEmpty
  }

  private var isSnapshot: Bool { earlierRevisions.isEmpty }

  /// An earlier page of the snapshot can have reported it as it was then.
  private func hasChangedSinceStart(_ layers: LayeredView) -> Bool {
    guard case .snapshot(let start) = origin else { return false }
    return (layers.revision ?? 0) > start.value
  }
}
