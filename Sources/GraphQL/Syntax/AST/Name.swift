/// A name as written, with its place.
package struct Name: Hashable, Sendable, CustomStringConvertible {
  package var value: String
  package var location: Location

  package init(_ value: String, location: Location = .none) {
    self.value = value
    self.location = location
  }

  package var description: String { value }
}
