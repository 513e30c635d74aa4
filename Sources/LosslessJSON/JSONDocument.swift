/// A checked JSON text with an index over it: member order and number digits stay as they came.
///
/// Reading makes no values; nodes point into `bytes`, which is shared with the caller's array rather
/// than copied. Immutable, so it may be read from any thread. A node keeps its document alive.
package final class JSONDocument: Sendable {
  package let bytes: [UInt8]
  /// The text holds no white space outside strings, so any part of it is already compact.
  package let isCompact: Bool
  let nodes: [JSONTapeNode]

  /// Checks and indexes a whole array.
  package convenience init(
    _ bytes: [UInt8], limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    try self.init(bytes, range: 0..<bytes.count, limits: limits)
  }

  /// Checks and indexes a text that lies inside a larger array.
  ///
  /// Error offsets count from the range's lower bound; node ranges are offsets into `bytes`.
  package init(
    _ bytes: [UInt8], range: Range<Int>, limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    precondition(range.upperBound <= bytes.count, "the range lies outside the array")
    let (nodes, sawSpace) = try bytes.withUnsafeBufferPointer {
      text throws(JSONParseError) -> ([JSONTapeNode], Bool) in
      var builder = JSONTapeBuilder(text: text, range: range, limits: limits)
      try builder.build()
      return (builder.nodes.array(), builder.sawSpace)
    }
    self.bytes = bytes
    self.nodes = nodes
    isCompact = !sawSpace
  }

  package convenience init(
    text: String, limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    try self.init(Array(text.utf8), limits: limits)
  }

  /// Indexes a text that was checked when it came in: a stored row, a part of a response. It may nest
  /// as deep as anything may; for what comes from outside take ``init(_:limits:)``.
  package convenience init(checked bytes: [UInt8]) throws(JSONParseError) {
    try self.init(bytes, limits: .ofCheckedText)
  }

  /// As ``init(checked:)``, for a text inside a larger array.
  package convenience init(checked bytes: [UInt8], range: Range<Int>) throws(JSONParseError) {
    try self.init(bytes, range: range, limits: .ofCheckedText)
  }

  package var root: JSONNode { JSONNode(document: self, index: 0) }

  /// What the index costs beside the text, for memory budgets.
  package var indexBytes: Int { nodes.capacity * MemoryLayout<JSONTapeNode>.stride }
}
