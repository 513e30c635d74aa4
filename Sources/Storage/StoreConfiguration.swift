package import Model

/// Where the store lives and what it takes from its surroundings.
package struct StoreConfiguration: Sendable {
  /// Made if absent (mode 0700). One process may hold it at a time.
  package var folder: String
  /// Random, a new one each start: names this boot's stretch of revisions, see ``Segment``.
  package var segment: UInt64
  package var opened: Timestamp
  /// What the folder says its database is marked with, see ``StoreMarker``; nil where it says nothing.
  package var folderMarker: String?
  /// Pages of the write-ahead log after which the writer copies them back, 4 KiB each.
  ///
  /// Large enough that a burst of answers is not slowed by copying, small enough that reads do not
  /// search a long log.
  package var checkpointPages = 4000
  /// Memory for cached pages of the writer's connection.
  package var writerCacheBytes = 16 << 20
  /// Memory for cached pages of each reader's: small, since the system has the file's pages in its own
  /// cache, once for all connections.
  package var readerCacheBytes = 4 << 20
  /// The types that clients write; they are among the types the store is opened with.
  package var local = LocalSchema.none

  package init(folder: String, segment: UInt64, opened: Timestamp) {
    self.folder = folder
    self.segment = segment
    self.opened = opened
  }
}
