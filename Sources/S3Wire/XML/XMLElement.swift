/// An element of a document: its children in order, and its text.
package struct XMLElement: Hashable, Sendable {
  /// Without a namespace prefix: S3's clients differ in whether they give one.
  package var name: String
  /// All character data directly in it, one piece after the other.
  package var text: String
  package var children: [XMLElement]

  package init(_ name: String, text: String = "", children: [XMLElement] = []) {
    self.name = name
    self.text = text
    self.children = children
  }

  /// The first child of a name.
  package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  /// The children of a name.
  package func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}
