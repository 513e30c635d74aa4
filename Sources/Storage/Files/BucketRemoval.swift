/// What came of removing a bucket from the index.
package enum BucketRemoval: Hashable, Sendable {
  case removed
  case noSuchBucket
  case notEmpty
}
