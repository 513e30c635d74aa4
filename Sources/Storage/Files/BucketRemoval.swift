/// What came of removing a bucket from the index.
package enum BucketRemoval: Hashable, Sendable {
  /// - Parameter dead: the files of its unfinished uploads, noted as such.
  case removed(dead: [BlobName])
  case noSuchBucket
  case notEmpty
}
