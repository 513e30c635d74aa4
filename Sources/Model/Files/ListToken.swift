/// Where a page of a listing ended.
///
/// It names a place among the keys, not a number of them, so what is written and removed meanwhile
/// neither repeats nor hides other keys.
package struct ListToken: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// The page ended with this key.
    case key(String)
    /// It ended with this common prefix, and all keys under it are told.
    case prefix(String)
    /// As the store behind this one wrote it.
    case foreign(String)
  }

  package let place: Place

  package init(_ place: Place) {
    self.place = place
  }
}
