import Files
package import Model

extension ContentDigest {
  /// Whether content has all of these digests.
  package static func match(_ digests: [ContentDigest], _ content: [UInt8]) -> Bool {
    var hashing = ContentHashing(digests.map(\.algorithm))
    hashing.update(content)
    let computed = hashing.digests()
    return digests.allSatisfy { computed[$0.algorithm] == $0 }
  }
}
