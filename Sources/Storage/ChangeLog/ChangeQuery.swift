package import Model

/// What one page of the change log is to hold.
package struct ChangeQuery: Sendable {
  package let viewer: Viewer
  package let position: LogPosition
  /// Nil begins a snapshot.
  package let origin: LogOrigin?
  /// Names of types; nil for all.
  package let types: Set<String>?
  /// By type: what must hold of its entities; nothing for types that are not here.
  package let conditions: [String: ObservedCondition]
  /// Entries at most, at least 1.
  package let limit: Int
  /// Contents beyond which the page ends early.
  package let bytesMax: Int

  package init(
    viewer: Viewer, position: LogPosition, origin: LogOrigin?, types: Set<String>? = nil,
    conditions: [String: ObservedCondition] = [:], limit: Int, bytesMax: Int = 4 << 20
  ) {
    self.viewer = viewer
    self.position = position
    self.origin = origin
    self.types = types
    self.conditions = conditions
    self.limit = limit
    self.bytesMax = bytesMax
  }
}
