import Files
package import Model

/// Digests as the S3 dialect writes them: `x-amz-checksum-` and the algorithm, in base 64.
package enum S3Digests {
  package static let prefix = "x-amz-checksum-"
  /// Fields with the same beginning that are no digests.
  private static let otherNames = ["algorithm", "mode", "type"]

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
