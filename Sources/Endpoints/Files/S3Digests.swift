import Model

/// Digests in S3's notation: `x-amz-checksum-` and the algorithm, in base64.
enum S3Digests {
  static let prefix = "x-amz-checksum-"
  /// Fields with the same prefix that are not digests.
  private static let otherNames = ["algorithm", "mode", "type"]

  /// The names of digest fields.
  static let names = ContentDigest.Algorithm.allCases.filter { $0 != .md5 }.map {
    "\(prefix)\($0.rawValue)"
  }

  /// Reads an object's checksum; that of a multipart object ends with the number of parts: `…=-3`.
  static func checksum(_ name: String, _ value: String) -> ObjectChecksum? {
    let sides = value.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let digest = digest(name, String(sides[0])) else { return nil }
    guard sides.count > 1 else { return ObjectChecksum(digest) }
    return Int(sides[1]).map { ObjectChecksum(digest, partCount: $0) }
  }

  /// The text that ``checksum(_:_:)`` reads.
  static func text(_ checksum: ObjectChecksum) -> String {
    Base64.encode(checksum.digest.bytes) + (checksum.partCount.map { "-\($0)" } ?? "")
  }

  /// The algorithm named by a field; nil for an unknown one.
  static func algorithm(_ name: String) -> ContentDigest.Algorithm? {
    guard name.hasPrefix(prefix) else { return nil }
    let algorithm = ContentDigest.Algorithm(rawValue: String(name.dropFirst(prefix.count)))
    return algorithm == .md5 ? nil : algorithm
  }

  /// Whether a field is a digest, of a known algorithm or not.
  static func isDigest(_ name: String) -> Bool {
    name.hasPrefix(prefix) && !otherNames.contains(String(name.dropFirst(prefix.count)))
  }

  static func digest(_ name: String, _ value: String) -> ContentDigest? {
    guard let algorithm = algorithm(name), let bytes = Base64.decode(value) else { return nil }
    return ContentDigest(algorithm, bytes)
  }
}
