import Model

/// A checksum as it lies in a column: `sha256:` and hexadecimal digits.
enum ChecksumText {
  static func encode(_ digest: ContentDigest) -> String {
    "\(digest.algorithm.rawValue):\(Hexadecimal.encode(digest.bytes))"
  }

  static func decode(_ text: String) -> ContentDigest? {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let algorithm = ContentDigest.Algorithm(rawValue: String(parts[0])),
      let bytes = Hexadecimal.decode(parts[1])
    else { return nil }
    return ContentDigest(algorithm, bytes)
  }
}
