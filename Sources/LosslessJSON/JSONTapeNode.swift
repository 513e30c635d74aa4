/// One value (or member name) on the tape: where its text lies, and where the next one is.
///
/// The tape holds nodes in document order. A container is followed by its descendants; in an object
/// each name is a string node and its value is the node right after it. `next` is the index of the
/// node behind the whole subtree, so skipping a value costs one load.
struct JSONTapeNode: Sendable {
  /// Offset of the first byte of the text; a string's opening quote belongs to it.
  var start: UInt32
  /// Offset behind the last byte of the text.
  var end: UInt32
  var next: UInt32
  var kind: JSONKind
  var flags: UInt8

  /// On strings: the text holds at least one escape, so it differs from the value.
  static let escaped: UInt8 = 1
  /// On numbers: neither fraction nor exponent.
  static let integral: UInt8 = 2
}
