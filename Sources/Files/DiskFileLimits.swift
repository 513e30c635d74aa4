/// Bounds of the disk store, those of S3 where nothing else is said.
package struct DiskFileLimits: Sendable, Hashable {
  /// Of every part but the last.
  package var partBytesMin = 5 << 20
  /// Of a range that is read at once, with the opening; longer ones are left to whoever sends them.
  var inlineBytesMax = 16 * 1024
  /// Lookups of an object that is replaced again and again while it is opened.
  var openTriesMax = 8
  /// Index rows that one step of the sweep takes.
  var sweepBatch = 500

  package init() {}
}
