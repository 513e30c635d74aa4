extension UnsafeBufferPointer<UInt8> {
  /// Compares eight bytes at a time.
  package func elementsEqualFast(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count, let mine = baseAddress, let theirs = other.baseAddress else {
      return count == other.count
    }
    let left = UnsafeRawPointer(mine)
    let right = UnsafeRawPointer(theirs)
    var offset = 0
    while offset + 8 <= count {
      guard
        left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      offset += 8
    }
    while offset < count {
      guard mine[offset] == theirs[offset] else { return false }
      offset += 1
    }
    return true
  }
}

extension [UInt8] {
  package func elementsEqualFast(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    withUnsafeBufferPointer { $0.elementsEqualFast(other) }
  }
}
