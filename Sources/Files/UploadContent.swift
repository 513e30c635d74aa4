package import Model

/// Content on its way in: read piece by piece, as fast as it is stored.
package struct UploadContent: Sendable {
  /// Bytes there will be; nil where the client does not tell.
  package var byteCount: Int?
  /// More than this is refused as soon as it comes.
  package var bytesMax: Int
  /// Digests known before the content.
  package var digests: [ContentDigest]
  /// An algorithm whose digest comes behind the content, or that the store is to note.
  package var computing: ContentDigest.Algorithm?
  /// An algorithm whose digest is noted in place of others, where there is one.
  package var alsoComputing: ContentDigest.Algorithm?
  /// The next piece; nil at the end.
  package var next: @Sendable () async throws(FileStoreError) -> [UInt8]?
  /// Asked once the content has ended: digests that came behind it.
  package var trailingDigests: @Sendable () throws(FileStoreError) -> [ContentDigest]

  /// As much as one request may bring, as in S3.
  package static let bytesMax = 5 << 30

  package init(
    byteCount: Int? = nil, bytesMax: Int = bytesMax, digests: [ContentDigest] = [],
    computing: ContentDigest.Algorithm? = nil,
    next: @escaping @Sendable () async throws(FileStoreError) -> [UInt8]?,
    trailingDigests: @escaping @Sendable () throws(FileStoreError) -> [ContentDigest] = { () in [] }
  ) {
    self.byteCount = byteCount
    self.bytesMax = bytesMax
    self.digests = digests
    self.computing = computing
    self.next = next
    self.trailingDigests = trailingDigests
  }
}
