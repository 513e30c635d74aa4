import Model

/// A checksum as it lies in a column: `sha256:` and hexadecimal digits, then for one of parts `:` and
/// their number.
enum ChecksumText {
  static func encode(_ digest: ContentDigest) -> String {
    "\(digest.algorithm.rawValue):\(Hexadecimal.encode(digest.bytes))"
  }

  static func encode(_ checksum: ObjectChecksum) -> String {
    encode(checksum.digest) + (checksum.partCount.map { ":\($0)" } ?? "")
  }

  static func encode(_ checksum: UploadChecksum) -> String {
    "\(checksum.algorithm.rawValue):\(checksum.kind.rawValue)"
  }

  /// - Returns: nil also for one of parts.
  static func decode(_ text: String) -> ContentDigest? {
    let checksum = decodeObject(text)
    return checksum?.partCount == nil ? checksum?.digest : nil
  }

  static func decodeObject(_ text: String) -> ObjectChecksum? {
    let parts = text.split(separator: ":")
    guard (2...3).contains(parts.count),
      let algorithm = ContentDigest.Algorithm(rawValue: String(parts[0])),
      let bytes = Hexadecimal.decode(parts[1]), let digest = ContentDigest(algorithm, bytes)
    else { return nil }
    guard parts.count == 3 else { return ObjectChecksum(digest) }
    return Int(parts[2]).map { ObjectChecksum(digest, partCount: $0) }
  }

  static func decodeUpload(_ text: String) -> UploadChecksum? {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let algorithm = ContentDigest.Algorithm(rawValue: String(parts[0])),
      let kind = ChecksumKind(rawValue: String(parts[1]))
    else { return nil }
    return UploadChecksum(algorithm, kind)
  }
}
