package import Model

/// The query for one page of the change log.
package struct ChangeQuery: Sendable {
  package let viewer: Viewer
  package let position: LogPosition
  /// The origin of the reading; nil begins a snapshot.
  package let origin: LogOrigin?
  /// The names of the types to include; nil for all.
  package let types: Set<String>?
  /// The conditions on entities by type; types that are not here have none.
  package let conditions: [String: ObservedCondition]
  /// The later time of `now()` in the conditions; nil if it does not move.
  package let step: ClockStep?
  /// Limit of entries, at least 1.
  package let limit: Int
  /// The bytes of content beyond which the page ends early.
  package let bytesMax: Int

  package init(
    viewer: Viewer, position: LogPosition, origin: LogOrigin?, types: Set<String>? = nil,
    conditions: [String: ObservedCondition] = [:], step: ClockStep? = nil, limit: Int,
    bytesMax: Int = 4 << 20
  ) {
    self.viewer = viewer
    self.position = position
    self.origin = origin
    self.types = types
    self.conditions = conditions
    self.step = step
    self.limit = limit
    self.bytesMax = bytesMax
  }
}
