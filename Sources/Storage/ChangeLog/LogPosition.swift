package import Model

/// A place in the change log: behind a whole revision, or behind one entity inside it.
package struct LogPosition: Hashable, Sendable {
  package let revision: Revision
  /// Where inside ``revision`` reading ended, in the log's own words; empty behind all of it.
  package let place: String

  package init(revision: Revision, place: String = "") {
    self.revision = revision
    self.place = place
  }

  package static let start = LogPosition(revision: .zero)

  init(revision: Int64, type: Int64, key: String) {
    self.init(revision: Revision(revision), place: "\(type):\(key)")
  }

  /// The last row read, for a comparison with (revision, type, key); nil for a place that the log
  /// did not make.
  var row: (revision: Int64, type: Int64, key: String)? {
    guard !place.isEmpty else { return (revision.value, .max, "") }
    guard let colon = place.firstIndex(of: ":"), let type = Int64(place[..<colon]) else {
      return nil
    }
    return (revision.value, type, String(place[place.index(after: colon)...]))
  }
}
