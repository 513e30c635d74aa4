/// Why an input value does not fit its type.
package struct InputFault: Hashable, Sendable, Error, CustomStringConvertible {
  package let path: InputPath
  /// A sentence that does not repeat the path.
  package let message: String

  package init(_ path: InputPath, _ message: String) {
    self.path = path
    self.message = message
  }

  package var description: String { "\(path): \(message)" }
}
