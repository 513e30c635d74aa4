package import S3Wire

/// A request whose signature was found good, or that has none: what it may do, and how its content
/// is to be checked.
package struct S3Request: Sendable {
  package let grant: S3Grant
  package let payload: PayloadHash
  /// The region it was signed for; nil for one that is not signed.
  package let region: String?
  /// Of content in signed chunks.
  let chunks: ChunkSignatures?

  package var isSigned: Bool { region != nil }
}
