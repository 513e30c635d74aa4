/// Where a node stands: a range of bytes in a source.
///
/// A location is no part of what a node says: **all locations are equal**, so that nodes compare
/// and hash by their content alone. Compare `start`, `end` or `position` where the place matters.
package struct Location: Hashable, Sendable {
  /// Absent for a node that was built in code or came from an introspection answer.
  package let source: Source?
  private let startOffset: UInt32
  private let endOffset: UInt32

  package init(source: Source?, start: Int, end: Int) {
    self.source = source
    startOffset = UInt32(clamping: start)
    endOffset = UInt32(clamping: end)
  }

  /// The place of a node that stands in no source.
  package static let none = Location(source: nil, start: 0, end: 0)

  package var start: Int { Int(startOffset) }
  package var end: Int { Int(endOffset) }
  package var range: Range<Int> { start..<max(start, end) }

  /// Line and column of the first byte; absent without a source.
  package var position: SourcePosition? { source?.position(at: start) }

  /// Whether both begin at one byte of one source: what `==` does not ask.
  package func isSamePlace(as other: Location) -> Bool {
    source === other.source && start == other.start
  }

  package static func == (left: Location, right: Location) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}
