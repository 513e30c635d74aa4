package import HTTPWire
package import Model

/// A store of objects in buckets: on this machine's disk, or in an S3-compatible service.
///
/// Every method is atomic. A write is visible to all reads that begin after it returned; one that
/// failed or was interrupted leaves the previous state.
package protocol FileStore: Sendable {
  // Buckets.

  /// - Throws: ``FileStoreError/bucketExists``.
  func createBucket(_ name: BucketName) async throws(FileStoreError)
  /// Returns all buckets, by name.
  func buckets() async throws(FileStoreError) -> [BucketDescription]
  /// - Throws: ``FileStoreError/noSuchBucket``.
  func bucket(_ name: BucketName) async throws(FileStoreError) -> BucketDescription
  /// Removes a bucket and its unfinished uploads.
  ///
  /// - Throws: ``FileStoreError/bucketNotEmpty`` while it holds an object.
  func deleteBucket(_ name: BucketName) async throws(FileStoreError)

  /// - Throws: ``FileStoreError/noSuchBucket``.
  func settings(of bucket: BucketName) async throws(FileStoreError) -> BucketSettings
  func changeSettings(
    of bucket: BucketName, _ change: @escaping @Sendable (inout BucketSettings) -> Void
  ) async throws(FileStoreError)

  // Objects.

  func put(
    _ content: UploadContent, at address: ObjectAddress, _ write: ObjectWrite
  ) async throws(FileStoreError) -> WrittenObject
  /// - Throws: ``FileStoreError/noSuchKey`` if there is no object, before conditions are checked.
  func head(
    _ address: ObjectAddress, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectMetadata
  /// Opens an object, which can then be read to its end regardless of concurrent writes.
  ///
  /// - Parameter range: nil for the whole object.
  /// - Throws: ``FileStoreError/notModified(_:)``, ``FileStoreError/preconditionFailed`` and
  ///   ``FileStoreError/rangeNotSatisfiable(size:)`` as RFC 9110 orders them.
  func get(
    _ address: ObjectAddress, range: ByteRangeSet.Spec?, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectContent
  /// - Returns: whether the object existed.
  func delete(
    _ address: ObjectAddress, if condition: WriteCondition
  ) async throws(FileStoreError) -> Bool
  /// - Parameters:
  ///   - attributes: nil for those of the source.
  ///   - sourceConditions: on the source object.
  func copy(
    _ source: ObjectAddress, if sourceConditions: Preconditions?, to target: ObjectAddress,
    attributes: ObjectAttributes?, _ write: CopyWrite
  ) async throws(FileStoreError) -> WrittenObject
  func list(
    _ bucket: BucketName, _ request: ObjectListRequest
  ) async throws(FileStoreError) -> ObjectListPage
  func tags(of address: ObjectAddress) async throws(FileStoreError) -> TagSet
  /// Replaces the tags of an object, and nothing else.
  func setTags(_ tags: TagSet, of address: ObjectAddress) async throws(FileStoreError)
  /// Returns the parts of which an object was assembled.
  func objectParts(
    at address: ObjectAddress
  ) async throws(FileStoreError) -> ObjectParts

  // Multipart uploads.

  func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, checksum: UploadChecksum?,
    quota: FileQuota
  ) async throws(FileStoreError) -> UploadAddress
  /// Stores a part, replacing one of the same number.
  func putPart(
    _ number: Int, of upload: UploadAddress, _ content: UploadContent, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart
  /// Stores a range of an object as a part; the range must be within the object.
  func copyPart(
    _ number: Int, of upload: UploadAddress, from source: ObjectAddress,
    range: ByteRangeSet.Spec?, if sourceConditions: Preconditions?, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart
  /// Returns parts with numbers above `number`, in order.
  func parts(
    of upload: UploadAddress, after number: Int, limit: Int
  ) async throws(FileStoreError) -> PartsPage
  /// Returns uploads in order of their keys, then by when they began.
  ///
  /// - Parameter marker: the last upload of the previous page.
  func uploads(
    in bucket: BucketName, prefix: String, after marker: UploadAddress?, limit: Int
  ) async throws(FileStoreError) -> UploadsPage
  /// Assembles the object from its parts. Idempotent: a repetition returns the same result.
  func completeUpload(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> WrittenObject
  func abortUpload(_ upload: UploadAddress) async throws(FileStoreError)

  // Maintenance.

  /// Aborts uploads begun before a moment, and removes leftovers of crashes and interrupted uploads.
  func sweep(uploadsBegunBefore moment: Timestamp) async throws(FileStoreError)
}

extension FileStore {
  package func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, quota: FileQuota
  ) async throws(FileStoreError) -> UploadAddress {
    try await beginUpload(to: address, attributes: attributes, checksum: nil, quota: quota)
  }

  /// - Parameter parts: in order; nil for all stored parts.
  package func completeUpload(
    _ upload: UploadAddress, parts: [PartReference]?, if condition: WriteCondition
  ) async throws(FileStoreError) -> WrittenObject {
    try await completeUpload(upload, UploadCompletion(parts: parts, condition: condition))
  }
}

/// The conditions of requests, which all stores check in the same way.
extension FileStore {
  /// Checks the conditions of a read.
  ///
  /// - Throws: ``FileStoreError/notModified(_:)`` and ``FileStoreError/preconditionFailed``.
  package func judge(
    _ conditions: Preconditions?, _ metadata: ObjectMetadata
  ) throws(FileStoreError) {
    guard let conditions, !conditions.isEmpty else { return }
    let verdict = conditions.judge(
      isRead: true, tag: EntityTag(metadata.tag),
      modified: HTTPDate(secondsSince1970: metadata.modified.milliseconds / 1000))
    switch verdict {
    case .proceed: return
    case .notModified: throw .notModified(metadata)
    case .failed: throw .preconditionFailed
    }
  }

  /// Checks the conditions on the source of a copy: as those of a read, except that *not modified* is a
  /// failed precondition.
  package func judgeSource(
    _ conditions: Preconditions?, _ metadata: ObjectMetadata
  ) throws(FileStoreError) {
    do throws(FileStoreError) {
      try judge(conditions, metadata)
    } catch {
      guard case .notModified = error else { throw error }
      throw .preconditionFailed
    }
  }
}

/// An object with the parts of which it was assembled.
package struct ObjectParts: Hashable, Sendable {
  package let metadata: ObjectMetadata
  /// By number; empty for an object that was uploaded whole.
  package let parts: [ObjectPart]

  package init(metadata: ObjectMetadata, parts: [ObjectPart]) {
    self.metadata = metadata
    self.parts = parts
  }
}

/// A page of an upload's parts.
package struct PartsPage: Hashable, Sendable {
  package let parts: [UploadPart]
  package let hasMore: Bool

  package init(parts: [UploadPart], hasMore: Bool) {
    self.parts = parts
    self.hasMore = hasMore
  }
}

/// A page of a bucket's unfinished uploads.
package struct UploadsPage: Hashable, Sendable {
  package let uploads: [UploadDescription]
  package let hasMore: Bool

  package init(uploads: [UploadDescription], hasMore: Bool) {
    self.uploads = uploads
    self.hasMore = hasMore
  }
}
