package import Model

/// Where a reading of the log set out, which decides what is new to its reader.
///
/// It stays the same from page to page until the reader has caught up: an entity that is changed
/// while the pages are read moves to the log's end, and would otherwise look known there to a
/// reader who never had it.
package enum LogOrigin: Hashable, Sendable {
  /// The reader had everything up to this revision.
  case delta(base: Revision)
  /// The reader had nothing, and the store's head was this: what was gone by then is not told.
  case snapshot(start: Revision)
}
