/// What a connection made of its bytes, without the places where they happened to be cut.
struct Transcript: Equatable, CustomStringConvertible {
  private var lines: [String] = []
  private var content: [UInt8] = []

  mutating func note(_ line: String) {
    closeContent()
    lines.append(line)
  }

  /// Content that arrives in a row is one entry.
  mutating func add(content bytes: UnsafeRawBufferPointer.SubSequence) {
    content.append(contentsOf: bytes)
  }

  /// How much of what is refused was handed out before depends on the pieces.
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
