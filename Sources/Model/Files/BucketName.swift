/// The name of a bucket, by the rules that every S3-compatible store shares.
package struct BucketName: Hashable, Sendable {
  package static let bytes = 3...63
  /// Beginnings and endings that stand for other things than buckets.
  private static let reservedPrefixes = ["xn--", "sthree-", "amzn-s3-demo-"]
  private static let reservedSuffixes = ["-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"]

  package let text: String

  /// - Returns: nil unless it is 3 to 63 lower-case letters, digits, hyphens and dots, each part
  ///   between dots begins and ends with a letter or digit, and it is no IPv4 address.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard Self.bytes.contains(bytes.count), bytes.allSatisfy(Self.isAllowed),
      let first = bytes.first, let last = bytes.last, Self.isAlphanumeric(first),
      Self.isAlphanumeric(last), !text.contains(".."),
      !text.contains("-."), !text.contains(".-"), !Self.isAddress(text),
      !Self.reservedPrefixes.contains(where: text.hasPrefix),
      !Self.reservedSuffixes.contains(where: text.hasSuffix)
    else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}
