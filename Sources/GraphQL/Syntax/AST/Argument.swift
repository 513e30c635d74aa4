/// `name: value` of a field or a directive.
package struct Argument: Hashable, Sendable {
  package var name: Name
  package var value: Value
  package var location: Location

  package init(name: Name, value: Value, location: Location = .none) {
    self.name = name
    self.value = value
    self.location = location
  }
}
