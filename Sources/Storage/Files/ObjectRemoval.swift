/// What came of removing an object from the index.
package enum ObjectRemoval: Hashable, Sendable {
  /// - Parameter dead: the file that nothing refers to any more, noted as such.
  case removed(dead: BlobName)
  case noSuchBucket
  case noSuchKey
  case conditionFailed
}
