package import Model

/// The time that `now()` in a filter of changes stands for to a reader, which moves with each page that
/// ends the log.
///
/// A cursor of such a filter carries it: entities that enter or leave the filter by the passing of time
/// alone are those between it and the time of the next request.
package struct FilterClock: Hashable, Sendable {
  /// A move of the clock that a page ended inside.
  package struct Step: Hashable, Sendable {
    package let end: Timestamp
    /// The reader has this entity and those before it as they are at ``end``.
    package let after: EntityKey

    package init(end: Timestamp, after: EntityKey) {
      self.end = end
      self.after = after
    }
  }

  /// The time at which the reader's entities are judged.
  package let time: Timestamp
  package let step: Step?

  package init(time: Timestamp, step: Step? = nil) {
    self.time = time
    self.step = step
  }

  /// The time that it moves to; never back.
  func end(at now: Timestamp) -> Timestamp { step?.end ?? max(now, time) }
}
