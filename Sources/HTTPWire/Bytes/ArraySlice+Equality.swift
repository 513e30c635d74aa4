extension ArraySlice<UInt8> {
  /// Whether the slice holds these bytes and no others. Compared eight at a time: the generic
  /// comparison of sequences goes byte by byte through two iterators.
  package func equals(_ other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBytes { left in
      other.withUnsafeBytes { right in
        var index = 0
        while index &+ 8 <= left.count {
          let (one, two) = (
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self),
            right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          )
          if one != two { return false }
          index &+= 8
        }
        while index < left.count {
          if left[index] != right[index] { return false }
          index &+= 1
        }
        return true
      }
    }
  }
}
