/// The value of a `Content-Range` field with a byte range: `bytes 0-9/200` (RFC 9110 14.4).
struct ContentRange: Equatable {
  let first: Int
  let last: Int
  /// Length of the whole content.
  let size: Int

  init?(_ text: String) {
    guard text.hasPrefix("bytes ") else { return nil }
    let sides = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let size = Int(sides[1]), size >= 0 else { return nil }
    let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]), first >= 0,
      first <= last, last < size
    else { return nil }
    self.first = first
    self.last = last
    self.size = size
  }
}
