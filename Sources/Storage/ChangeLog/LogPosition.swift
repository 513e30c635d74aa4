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

  /// The last row read, for a comparison with (revision, type, key); nil for a place that the log
  /// did not make.
  var row: (revision: Int64, type: Int64, key: String)? {
    guard !place.isEmpty else { return (revision.value, .max, "") }
    // Of bytes, not characters: a key may begin with a mark that joins the colon.
    let bytes = place.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let type = Int64(place[..<colon])
    else { return nil }
    return (revision.value, type, String(place[bytes.index(after: colon)...]))
  }
}
