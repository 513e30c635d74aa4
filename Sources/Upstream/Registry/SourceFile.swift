/// A GraphQL text and the path it is reported under. Whoever composes the service reads the file.
package struct SourceFile: Hashable, Sendable {
  package let path: String
  package let text: String

  package init(path: String, text: String) {
    self.path = path
    self.text = text
  }
}
