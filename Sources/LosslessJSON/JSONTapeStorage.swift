/// The buffer of nodes for the parser: it grows, without the checks of an array, which cost a third of
/// the speed.
struct JSONTapeStorage: ~Copyable {
  private(set) var count = 0
  private var capacity: Int
  private var base: UnsafeMutablePointer<JSONTapeNode>

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit {
    base.deallocate()
  }

  subscript(index: Int) -> JSONTapeNode {
    @inline(__always) get { base[index] }
    @inline(__always) set { base[index] = newValue }
  }

  @inline(__always)
  mutating func append(_ node: JSONTapeNode) {
    if count == capacity { grow() }
    (base + count).initialize(to: node)
    count += 1
  }

  /// Returns the nodes in an array of exact capacity.
  func array() -> [JSONTapeNode] {
    Array(UnsafeBufferPointer(start: base, count: count))
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<JSONTapeNode>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }
}

/// A value or member name on the tape: the range of its text, and the index of the next node.
///
/// The tape holds nodes in document order. A container is followed by its descendants; in an object
/// each name is a string node directly followed by the node of its value. `next` is the index of the
/// node after the whole subtree, so skipping a value costs one load.
struct JSONTapeNode: Sendable {
  /// Offset of the first byte of the text, for a string the opening quote.
  var start: UInt32
  /// Offset after the last byte of the text.
  var end: UInt32
  var next: UInt32
  var kind: JSONKind
  var flags: UInt8

  /// Flag of strings: the text has at least one escape, so it differs from the value.
  static let escaped: UInt8 = 1
  /// Flag of numbers: neither fraction nor exponent.
  static let integral: UInt8 = 2
}
