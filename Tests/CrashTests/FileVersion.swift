/// The content that one write gives an object: from its length alone one can tell which it is.
struct FileVersion: Hashable, Sendable {
  /// The first part of a long one: as few bytes as a part may have that is not the last.
  static let firstPartBytes = 5 << 20
  private static let shortBytes = 20_000

  let number: Int
  /// Whether it comes in two parts.
  let isLong: Bool

  init(number: Int, isLong: Bool) {
    self.number = number
    self.isLong = isLong
  }

  /// The one that content is; nil for content of no version, or that is not whole.
  init?(of content: [UInt8]) {
    let isLong = content.count > Self.firstPartBytes
    self.init(
      number: content.count - Self.shortBytes - (isLong ? Self.firstPartBytes : 0), isLong: isLong)
    guard number > 0, content.allSatisfy({ $0 == filling }) else { return nil }
  }

  var parts: [[UInt8]] {
    let last = [UInt8](repeating: filling, count: Self.shortBytes + number)
    return isLong ? [[UInt8](repeating: filling, count: Self.firstPartBytes), last] : [last]
  }

  private var filling: UInt8 { UInt8(truncatingIfNeeded: number &* 37) }
}
