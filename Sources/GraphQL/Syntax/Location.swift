/// The location of a node: a range of bytes in a source.
///
/// **All locations are equal**, so that nodes compare and hash by their content alone. Compare `start`,
/// `end` or `position` where the location matters.
package struct Location: Hashable, Sendable {
  /// Nil for a node that was built in code or came from an introspection response.
  package let source: Source?
  private let startOffset: UInt32
  private let endOffset: UInt32

  package init(source: Source?, start: Int, end: Int) {
    self.source = source
    startOffset = UInt32(clamping: start)
    endOffset = UInt32(clamping: end)
  }

  /// The location of a node without a source.
  package static let none = Location(source: nil, start: 0, end: 0)

  package var start: Int { Int(startOffset) }
  package var end: Int { Int(endOffset) }
  package var range: Range<Int> { start..<max(start, end) }

  /// Line and column of the first byte; nil without a source.
  package var position: SourcePosition? { source?.position(at: start) }

  /// Returns whether both begin at the same byte of the same source, which `==` ignores.
  func isSamePlace(as other: Location) -> Bool {
    source === other.source && start == other.start
  }

  package static func == (left: Location, right: Location) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}

/// A line and a column, both counted from 1.
package struct SourcePosition: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }

  package var description: String { "\(line):\(column)" }
}
