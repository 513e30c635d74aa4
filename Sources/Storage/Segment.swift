package import Model

/// The stretch of revisions that one boot made: from `start` to the next segment's start, both
/// ends inclusive.
///
/// A cursor that names an unknown segment, or a revision outside its segment, comes from a
/// database that has since been replaced by a backup or has lost its tail.
package struct Segment: Hashable, Sendable {
  package let nonce: UInt64
  package let start: Revision

  package init(nonce: UInt64, start: Revision) {
    self.nonce = nonce
    self.start = start
  }
}
