/// What came of writing an object into the index.
package enum ObjectCommit: Hashable, Sendable {
  /// - Parameters:
  ///   - isNew: whether there was none of that name.
  ///   - dead: files that nothing refers to any more, noted as such.
  case stored(isNew: Bool, dead: [BlobName])
  case noSuchBucket
  case noSuchUpload
  /// Parts are not what they were when they were put together.
  case partsChanged
  case conditionFailed
  case overQuota(FileQuotaKind)
}
