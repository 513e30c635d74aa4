import Files
package import Model

/// Digests as the S3 dialect writes them: `x-amz-checksum-` and the algorithm, in base 64.
package enum S3Digests {
  package static let prefix = "x-amz-checksum-"
  /// Fields with the same beginning that are no digests.
  private static let otherNames = ["algorithm", "mode", "type"]

  /// The names of fields that give a digest.
  package static let names = ContentDigest.Algorithm.allCases.filter { $0 != .md5 }.map {
    "\(prefix)\($0.rawValue)"
  }

  /// The checksum of an object, which for one of parts has their number behind it: `…=-3`.
  package static func checksum(_ name: String, _ value: String) -> ObjectChecksum? {
    let sides = value.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let digest = digest(name, String(sides[0])) else { return nil }
    guard sides.count > 1 else { return ObjectChecksum(digest) }
    return Int(sides[1]).map { ObjectChecksum(digest, partCount: $0) }
  }

  /// As ``checksum(_:_:)`` reads it.
  package static func text(_ checksum: ObjectChecksum) -> String {
    Base64.encode(checksum.digest.bytes) + (checksum.partCount.map { "-\($0)" } ?? "")
  }

  /// The algorithm that a field's name has; nil for one that is not known here.
  package static func algorithm(_ name: String) -> ContentDigest.Algorithm? {
    guard name.hasPrefix(prefix) else { return nil }
    let algorithm = ContentDigest.Algorithm(rawValue: String(name.dropFirst(prefix.count)))
    return algorithm == .md5 ? nil : algorithm
  }

  /// Whether a field's name is that of a digest, of a known algorithm or not.
  package static func isDigest(_ name: String) -> Bool {
    name.hasPrefix(prefix) && !otherNames.contains(String(name.dropFirst(prefix.count)))
  }

  package static func digest(_ name: String, _ value: String) -> ContentDigest? {
    guard let algorithm = algorithm(name), let bytes = Base64.decode(value) else { return nil }
    return ContentDigest(algorithm, bytes)
  }

  /// Whether content that is in memory has all of these digests.
  package static func match(_ digests: [ContentDigest], _ content: [UInt8]) -> Bool {
    var hashing = ContentHashing(digests.map(\.algorithm))
    hashing.update(content)
    let computed = hashing.digests()
    return digests.allSatisfy { computed[$0.algorithm] == $0 }
  }
}
