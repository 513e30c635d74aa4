/// The chain of signatures of content in chunks. Each is computed over the previous one; the first over
/// the request's signature.
package struct ChunkSignatures: Sendable {
  private let key: SignatureKey
  private let time: SignatureTime
  private var previous: String

  /// - Parameter seed: the request's own signature.
  package init(key: SignatureKey, time: SignatureTime, seed: String) {
    self.key = key
    self.time = time
    previous = seed
  }

  /// Signs the next chunk; the last chunk is empty.
  ///
  /// - Parameter digest: the digest of the chunk's bytes (``SignatureDigest``).
  package mutating func next(digest: String) -> String {
    previous = key.sign(text(ofChunk: digest))
    return previous
  }

  /// Verifies the signature of the next chunk. The chain advances only if it is valid.
  package mutating func accept(_ signature: some StringProtocol, digest: String) -> Bool {
    guard key.isSignature(signature, of: text(ofChunk: digest)) else { return false }
    previous = String(signature)
    return true
  }

  /// Signs the trailer.
  ///
  /// - Parameter fields: in any order; they are sorted by name.
  package func trailer(_ fields: [CanonicalRequest.Field]) -> String {
    key.sign(text(ofTrailer: fields))
  }

  /// Verifies the signature of the trailer.
  package func accept(
    _ signature: some StringProtocol, trailer fields: [CanonicalRequest.Field]
  ) -> Bool {
    key.isSignature(signature, of: text(ofTrailer: fields))
  }

  private func text(ofChunk digest: String) -> String {
    [
      "\(SignatureAlgorithm.name)-PAYLOAD", time.text, key.scope.text, previous,
      SignatureDigest.empty, digest,
    ].joined(separator: "\n")
  }

  private func text(ofTrailer fields: [CanonicalRequest.Field]) -> String {
    let lines = fields.map { "\($0.name.lowercased()):\($0.value)\n" }.sorted().joined()
    return [
      "\(SignatureAlgorithm.name)-TRAILER", time.text, key.scope.text, previous,
      SignatureDigest.of(lines),
    ].joined(separator: "\n")
  }
}
