/// The signatures of content in chunks, each made over the one before: the first over that of the
/// request.
package struct ChunkSignatures: Sendable {
  private let key: SigningKey
  private let time: SignatureTime
  private var previous: String

  /// - Parameter seed: the request's own signature.
  package init(key: SigningKey, time: SignatureTime, seed: String) {
    self.key = key
    self.time = time
    previous = seed
  }

  /// The signature of the chunk that comes next; the last has no bytes.
  ///
  /// - Parameter digest: of the chunk's bytes (``SignatureDigest``).
  package mutating func next(digest: String) -> String {
    previous = key.sign(text(ofChunk: digest))
    return previous
  }

  /// Whether the next chunk is signed so. Where it is not, the chain does not go on.
  package mutating func accept(_ signature: some StringProtocol, digest: String) -> Bool {
    guard key.isSignature(signature, of: text(ofChunk: digest)) else { return false }
    previous = String(signature)
    return true
  }

  /// The signature of what trails the chunks.
  ///
  /// - Parameter fields: in any order; they are signed by name.
  package func trailer(_ fields: [CanonicalRequest.Field]) -> String {
    key.sign(text(ofTrailer: fields))
  }

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
