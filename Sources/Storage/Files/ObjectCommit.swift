/// The result of looking up an object by its address.
package enum ObjectLookup: Hashable, Sendable {
  case noSuchBucket
  case noSuchKey
  case found(StoredObject)
}

/// The result of writing an object to the index.
package enum ObjectCommit: Hashable, Sendable {
  /// - Parameters:
  ///   - isNew: whether no object with this key existed.
  ///   - dead: files that nothing refers to any more, recorded as dead.
  case stored(isNew: Bool, dead: [BlobName])
  case noSuchBucket
  case noSuchUpload
  /// A part was replaced after the parts were assembled.
  case partsChanged
  case conditionFailed
  case overQuota(FileQuotaKind)
}

/// The result of writing a part to the index.
package enum PartCommit: Hashable, Sendable {
  /// - Parameter dead: the file of the replaced part, recorded as dead.
  case stored(dead: BlobName?)
  case noSuchUpload
  case overQuota(FileQuotaKind)
}

/// The result of removing an object from the index.
package enum ObjectRemoval: Hashable, Sendable {
  /// - Parameter dead: the file that nothing refers to any more, recorded as dead.
  case removed(dead: BlobName)
  case noSuchBucket
  case noSuchKey
  case conditionFailed
}

/// The result of removing a bucket from the index.
package enum BucketRemoval: Hashable, Sendable {
  /// - Parameter dead: the files of its unfinished uploads, recorded as dead.
  case removed(dead: [BlobName])
  case noSuchBucket
  case notEmpty
}

/// The space left in a bucket.
package struct FileRoom: Hashable, Sendable {
  /// Nil if unlimited.
  package let bytes: Int?
  /// The quota that is reached first.
  package let bound: FileQuotaKind
  /// The bucket's default encryption, for objects whose writers request none.
  package var encryption: String?
}

/// The quota that a write would exceed.
package enum FileQuotaKind: Hashable, Sendable {
  case bucket
  case owner
}
