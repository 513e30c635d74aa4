/// The content of an object after one write: its length alone identifies the version.
struct FileVersion: Hashable, Sendable {
  /// The first part of a long version: the minimum size of a part that is not the last.
  static let firstPartBytes = 5 << 20
  private static let shortBytes = 20_000

  let number: Int
  /// Whether it is uploaded in two parts.
  let isLong: Bool

  init(number: Int, isLong: Bool) {
    self.number = number
    self.isLong = isLong
  }

  /// The version of the content; nil for content of no version, or content that is incomplete.
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
