/// Content to be stored, read piece by piece as fast as it is stored.
package struct UploadContent: Sendable {
  /// Its length in bytes; nil if the client does not announce it.
  package var byteCount: Int?
  /// Limit beyond which the content is refused.
  package var bytesMax: Int
  /// Digests that are known before the content.
  package var digests: [ContentDigest]
  /// The algorithm of a digest that follows the content, or that the store must record.
  package var computing: ContentDigest.Algorithm?
  /// The algorithm whose digest is recorded instead of others, if any.
  package var alsoComputing: ContentDigest.Algorithm?
  /// The next piece; nil at the end.
  package var next: @Sendable () async throws(FileStoreError) -> [UInt8]?
  /// Returns digests that followed the content; called once it has ended.
  package var trailingDigests: @Sendable () throws(FileStoreError) -> [ContentDigest]

  /// The limit of one request, as in S3.
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

/// The result of writing an object.
package struct WrittenObject: Hashable, Sendable {
  package let metadata: ObjectMetadata
  /// Whether no object of that name existed before.
  package let isNew: Bool

  package init(metadata: ObjectMetadata, isNew: Bool) {
    self.metadata = metadata
    self.isNew = isNew
  }
}
