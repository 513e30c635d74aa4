/// A name and its value in a `JSONValue` object.
package struct JSONMember: Sendable, Hashable {
  package var name: String
  package var value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}
