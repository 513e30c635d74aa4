/// The events of a connection, independent of the places where its bytes were cut.
struct Transcript: Equatable, CustomStringConvertible {
  private var lines: [String] = []
  private var content: [UInt8] = []

  mutating func note(_ line: String) {
    closeContent()
    lines.append(line)
  }

  /// Adds content; consecutive content is one entry.
  mutating func add(content bytes: UnsafeRawBufferPointer.SubSequence) {
    content.append(contentsOf: bytes)
  }

  /// Drops trailing content: how much of a refused body was passed on before depends on the pieces.
  mutating func dropContent() {
    content.removeAll(keepingCapacity: true)
  }

  mutating func closeContent() {
    guard !content.isEmpty else { return }
    lines.append("content \(content)")
    content.removeAll(keepingCapacity: true)
  }

  var description: String { lines.joined(separator: "\n") }
}
