/// The documentation string before a type-system definition.
package struct Description: Hashable, Sendable {
  package var text: String
  package var isBlock: Bool
  package var location: Location

  package init(_ text: String, isBlock: Bool = true, location: Location = .none) {
    self.text = text
    self.isBlock = isBlock
    self.location = location
  }
}
