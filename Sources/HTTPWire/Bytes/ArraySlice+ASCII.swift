extension ArraySlice<UInt8> {
  /// Whether the slice spells `word`, without regard to the case of ASCII letters.
  ///
  /// - Parameter word: in lower case.
  package func equalsIgnoringCase(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    let wanted = word.utf8Start
    for offset in 0..<count where self[startIndex + offset].lowercased != wanted[offset] {
      return false
    }
    return true
  }

  /// The slice without SP and HTAB at its ends.
  package var trimmingBlanks: ArraySlice<UInt8> {
    var slice = self
    while let first = slice.first, first.isBlank { slice.removeFirst() }
    while let last = slice.last, last.isBlank { slice.removeLast() }
    return slice
  }

  /// The text of the slice; bytes that are no UTF-8 become U+FFFD.
  package var text: String { String(decoding: self, as: UTF8.self) }
}
