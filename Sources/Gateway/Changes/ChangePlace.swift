package import Model
package import Storage

/// Where a reader of the change log stands, as a cursor says it.
package struct ChangePlace: Hashable, Sendable {
  package let position: LogPosition
  package let origin: LogOrigin

  package init(position: LogPosition, origin: LogOrigin) {
    self.position = position
    self.origin = origin
  }

  /// Behind everything up to a revision.
  package init(caughtUpAt revision: Revision) {
    self.init(position: LogPosition(revision: revision), origin: .delta(base: revision))
  }
}
