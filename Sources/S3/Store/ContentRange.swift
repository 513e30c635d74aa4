/// The field `Content-Range` of one part in bytes: `bytes 0-9/200` (RFC 9110 14.4).
struct ContentRange: Equatable {
  let first: Int
  let last: Int
  /// Of the whole.
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
