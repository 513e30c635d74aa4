extension ArraySlice<UInt8> {
  /// Whether the slice holds these bytes and no others: the generic comparison of sequences goes
  /// byte by byte through two iterators.
  package func equals(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { left in other.withUnsafeBytes { WholeBytes.areEqual(left, $0) } }
  }
}
