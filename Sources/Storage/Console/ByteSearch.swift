/// Finds bytes in bytes in one pass (Knuth, Morris and Pratt, 1977).
struct ByteSearch {
  private let part: UnsafeRawBufferPointer
  /// By count of bytes that match: how many of them still do where the next one does not.
  private let fallbacks: [Int]

  /// - Parameter part: valid for as long as this is used.
  init(_ part: UnsafeRawBufferPointer) {
    self.part = part
    var fallbacks = [Int](repeating: 0, count: part.count + 1)
    var length = 0
    for index in part.indices.dropFirst() {
      while length > 0, part[index] != part[length] { length = fallbacks[length] }
      if part[index] == part[length] { length += 1 }
      fallbacks[index + 1] = length
    }
    self.fallbacks = fallbacks
  }

  /// The place of the first occurrence that begins at `start` or later; an empty part is everywhere.
  func next(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard !part.isEmpty else { return start }
    var length = 0
    for index in start..<text.count {
      while length > 0, text[index] != part[length] { length = fallbacks[length] }
      if text[index] == part[length] { length += 1 }
      if length == part.count { return index + 1 - length }
    }
    return nil
  }
}
