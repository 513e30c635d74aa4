package import Model
package import Storage

/// A place in the change log as one caller sees it; opaque to clients.
///
/// It holds no time: it is good if its segment is known and its revision lies inside it, which
/// finds restored backups and lost tails.
package struct Cursor: Hashable, Sendable {
  /// Of the boot that made the revision.
  package let segment: UInt64
  package let revision: Revision
  /// Where a page ended inside a commit; empty at the end of one.
  package let lastKey: String
  /// Where the reading set out that has not caught up yet; nil where it has.
  package let origin: LogOrigin?
  /// Digest of the scopes of the caller it was made for.
  package let viewer: UInt64
  /// Digest of the filter it continues; 0 where it was made with an answer instead of a page of
  /// changes, and begins any.
  package let filter: UInt64
  package let schemaVersion: UInt32

  package init(
    segment: UInt64, revision: Revision, lastKey: String = "", origin: LogOrigin? = nil,
    viewer: UInt64, filter: UInt64 = 0, schemaVersion: UInt32
  ) {
    self.segment = segment
    self.revision = revision
    self.lastKey = lastKey
    self.origin = origin
    self.viewer = viewer
    self.filter = filter
    self.schemaVersion = schemaVersion
  }
}
