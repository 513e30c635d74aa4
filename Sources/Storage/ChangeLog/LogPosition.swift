package import Model

/// The point at which a reading of the log began, which decides what is new to its reader.
///
/// It stays the same from page to page until the reader has caught up: an entity that changes while
/// the pages are read moves to the log's end, and would otherwise look known there to a reader who
/// never had it.
package enum LogOrigin: Hashable, Sendable {
  /// The reader had everything up to this revision.
  case delta(base: Revision)
  /// The reader had nothing, and the store's head was this revision: earlier deletions are not
  /// reported.
  case snapshot(start: Revision)
}

/// A position in the change log: after a whole revision, or after one entity inside it.
package struct LogPosition: Hashable, Sendable {
  package let revision: Revision
  /// The place inside ``revision`` at which reading ended, in the log's own format; empty after all
  /// of it.
  package let place: String

  package init(revision: Revision, place: String = "") {
    self.revision = revision
    self.place = place
  }

  package static let start = LogPosition(revision: .zero)

  package static func == (left: LogPosition, right: LogPosition) -> Bool {
    left.revision == right.revision && left.place.equalsExactly(right.place)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(revision)
    place.hashExactly(into: &hasher)
  }

  init(revision: Int64, type: Int64, key: String) {
    self.init(revision: Revision(revision), place: "\(type):\(key)")
  }

  /// The last row read, for comparison with (revision, type, key); nil for a place in a foreign
  /// format.
  var row: (revision: Int64, type: Int64, key: String)? {
    guard !place.isEmpty else { return (revision.value, .max, "") }
    // Search bytes, not characters: a key can begin with a combining mark that joins the colon.
    let bytes = place.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let type = Int64(place[..<colon])
    else { return nil }
    return (revision.value, type, String(place[bytes.index(after: colon)...]))
  }
}
