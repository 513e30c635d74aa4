/// A validated and indexed JSON text; member order and number digits stay as received.
///
/// Reading creates no values; nodes point into `bytes`, which is shared with the caller's array rather
/// than copied. Immutable, so it can be read from any thread. A node keeps its document alive.
package final class JSONDocument: Sendable {
  package let bytes: [UInt8]
  /// Whether the text has no white space outside strings, so that any part of it is compact.
  package let isCompact: Bool
  let nodes: [JSONTapeNode]

  /// Validates and indexes a whole array.
  package convenience init(
    _ bytes: [UInt8], limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    try self.init(bytes, range: 0..<bytes.count, limits: limits)
  }

  /// Validates and indexes a text inside a larger array.
  ///
  /// Error offsets count from the range's lower bound; node ranges are offsets into `bytes`.
  package init(
    _ bytes: [UInt8], range: Range<Int>, limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    precondition(range.upperBound <= bytes.count, "the range is outside the array")
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

  /// Indexes a text that was validated on receipt: a stored row, a part of a response. Only the ceiling
  /// of the nesting depth applies; for input from outside use ``init(_:limits:)``.
  package convenience init(checked bytes: [UInt8]) throws(JSONParseError) {
    try self.init(bytes, limits: .ofCheckedText)
  }

  /// As ``init(checked:)``, for a text inside a larger array.
  package convenience init(checked bytes: [UInt8], range: Range<Int>) throws(JSONParseError) {
    try self.init(bytes, range: range, limits: .ofCheckedText)
  }

  package var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// Limits of a document.
package struct JSONLimits: Sendable, Hashable {
  /// Default nesting depth: clients nest less than this, and a reader without explicit limits is safe
  /// for untrusted input.
  package static let depthDefault = 128
  /// Maximum nesting depth of any document. It keeps recursive readers of the tape far from a stack
  /// overflow; upstream responses and stored data can use all of it.
  package static let depthCeiling = 1024
  /// Default number of values of one text, including member names. Each takes far more memory and time
  /// than the byte or two of its text.
  static let valuesDefault = 200_000
  /// Default text length. A larger response is a mistake in the operation rather than data.
  static let bytesDefault = 64 << 20
  /// Offsets on the tape are 32 bits wide.
  static let bytesCeiling = Int(UInt32.max) - 8
  /// For text that was validated on receipt: see ``JSONDocument/init(checked:)``.
  static let ofCheckedText = JSONLimits(depthMax: depthCeiling, valuesMax: .max)

  package var depthMax: Int
  package var bytesMax: Int
  package var valuesMax: Int

  package init(
    depthMax: Int = depthDefault, bytesMax: Int = bytesDefault, valuesMax: Int = valuesDefault
  ) {
    self.valuesMax = valuesMax
    self.depthMax = min(depthMax, Self.depthCeiling)
    self.bytesMax = min(bytesMax, Self.bytesCeiling)
  }
}
