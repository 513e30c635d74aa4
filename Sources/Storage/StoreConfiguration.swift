package import Model

/// The location of the store and the inputs from its environment.
package struct StoreConfiguration: Sendable {
  /// Created if absent (mode 0700). One process can hold it at a time.
  package var folder: String
  /// Random, new at each start: identifies this boot's range of revisions, see ``Segment``.
  package var segment: UInt64
  package var opened: Timestamp
  /// The marker that the folder records for its database, see ``StoreMarker``; nil if it records
  /// none.
  package var folderMarker: String?
  /// Pages of the write-ahead log after which the writer checkpoints, 4 KiB each.
  ///
  /// Large enough that a burst of responses is not slowed by checkpoints, small enough that reads
  /// do not search a long log.
  package var checkpointPages = 4000
  /// Memory for cached pages of the writer's connection.
  var writerCacheBytes = 16 << 20
  /// Memory for cached pages of each reader's connection: small, since the system caches the file's
  /// pages once for all connections.
  var readerCacheBytes = 4 << 20
  /// The types that clients write, a subset of the types the store is opened with.
  package var local = LocalSchema.none

  /// The part of the store in a cluster.
  package var role = StoreRole.alone

  package init(folder: String, segment: UInt64, opened: Timestamp) {
    self.folder = folder
    self.segment = segment
    self.opened = opened
  }
}

/// The range of revisions that one boot produced: from `start` to the next segment's start, both
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
