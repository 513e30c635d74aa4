/// Texts laid one behind the other, so that comparing with one touches no reference count.
struct NameTable {
  private(set) var bytes: [UInt8] = []
  private var ends: [Int] = [0]

  mutating func append(_ name: some Sequence<UInt8>) {
    bytes.append(contentsOf: name)
    ends.append(bytes.count)
  }

  subscript(index: Int) -> Range<Int> { ends[index]..<ends[index + 1] }

  /// Whether a text has exactly this one at a range of its own.
  @inline(__always)
  func isName(_ index: Int, at range: Range<Int>, of scanner: TextScanner) -> Bool {
    let own = self[index]
    guard own.count == range.count else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      scanner.holds(UnsafeBufferPointer(rebasing: bytes[own]), at: range.lowerBound)
    }
  }
}
