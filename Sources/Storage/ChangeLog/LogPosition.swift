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

  /// A position inside the entities that the change of another entity concerns: after `concerned`.
  init(revision: Int64, type: Int64, key: String, concerned: String) {
    self.init(
      revision: Revision(revision), place: "\(type)+\(key.utf8.count):\(key)\(concerned)")
  }

  /// The last row read, for comparison with (revision, type, key); nil for a place in a foreign
  /// format.
  var row: (revision: Int64, type: Int64, key: String)? {
    guard !place.isEmpty else { return (revision.value, .max, "") }
    return parts.map { (revision.value, $0.type, $0.key) }
  }

  /// The last entity of those that ``row`` concerns that was read, if not all of them were.
  var concerned: String? { place.isEmpty ? nil : parts?.concerned }

  private var parts: (type: Int64, key: String, concerned: String?)? {
    // Search bytes, not characters: a key can begin with a combining mark that joins the colon.
    let bytes = place.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let rest = bytes[bytes.index(after: colon)...]
    let numbers = place[..<colon].split(separator: "+", omittingEmptySubsequences: false)
    guard let type = Int64(numbers[0]) else { return nil }
    if numbers.count == 1 { return (type, String(decoding: rest, as: UTF8.self), nil) }
    guard numbers.count == 2, let length = Int(numbers[1]), (0...rest.count).contains(length)
    else { return nil }
    return (
      type, String(decoding: rest.prefix(length), as: UTF8.self),
      String(decoding: rest.dropFirst(length), as: UTF8.self)
    )
  }
}
