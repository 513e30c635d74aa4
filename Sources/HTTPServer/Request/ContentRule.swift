/// How the content of a request is taken.
package struct ContentRule: Sendable, Equatable {
  /// Bytes it may have; `nil` for the server's own limit.
  package var bytesMax: Int?
  /// Whether it is wanted as it was sent, in its content coding. If not, the coding is taken off,
  /// and one that is not known refused.
  package var keepsCoding: Bool

  package init(bytesMax: Int? = nil, keepsCoding: Bool = false) {
    self.bytesMax = bytesMax
    self.keepsCoding = keepsCoding
  }
}
