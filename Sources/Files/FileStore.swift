package import HTTPWire
package import Model

/// Keeps objects in buckets: on this machine's disk, or in an S3-compatible store.
///
/// Every method is a whole operation. A write is there for all reads that begin after it returned;
/// one that failed, or was cut off at any moment, left what was there before.
package protocol FileStore: Sendable {
  // Buckets.

  /// - Throws: ``FileStoreError/bucketExists``.
  func createBucket(_ name: BucketName) async throws(FileStoreError)
  /// By name.
  func buckets() async throws(FileStoreError) -> [BucketDescription]
  /// - Throws: ``FileStoreError/noSuchBucket``.
  func bucket(_ name: BucketName) async throws(FileStoreError) -> BucketDescription
  /// Removes a bucket, and its unfinished uploads with it.
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
  /// - Throws: ``FileStoreError/noSuchKey`` where there is none; the conditions are not looked at.
  func head(
    _ address: ObjectAddress, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectMetadata
  /// Opens an object. What was opened can be read to its end, whatever is written meanwhile.
  ///
  /// - Parameter range: nil for the whole.
  /// - Throws: ``FileStoreError/notModified(_:)``, ``FileStoreError/preconditionFailed`` and
  ///   ``FileStoreError/rangeNotSatisfiable(size:)`` as RFC 9110 orders them.
  func get(
    _ address: ObjectAddress, range: ByteRangeSet.Spec?, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectContent
  /// - Returns: whether there was one.
  func delete(
    _ address: ObjectAddress, if condition: WriteCondition
  ) async throws(FileStoreError) -> Bool
  /// - Parameters:
  ///   - attributes: nil for those of the source.
  ///   - sourceConditions: on the object that is copied.
  func copy(
    _ source: ObjectAddress, if sourceConditions: Preconditions?, to target: ObjectAddress,
    attributes: ObjectAttributes?, _ write: CopyWrite
  ) async throws(FileStoreError) -> WrittenObject
  func list(
    _ bucket: BucketName, _ request: ObjectListRequest
  ) async throws(FileStoreError) -> ObjectListPage
  func tags(of address: ObjectAddress) async throws(FileStoreError) -> TagSet
  /// Gives an object other tags; everything else of it stays.
  func setTags(_ tags: TagSet, of address: ObjectAddress) async throws(FileStoreError)
  /// The parts that an object was put together from.
  func objectParts(
    at address: ObjectAddress
  ) async throws(FileStoreError) -> ObjectParts

  // Uploads in parts.

  func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, checksum: UploadChecksum?,
    quota: FileQuota
  ) async throws(FileStoreError) -> UploadAddress
  /// Stores a part, in place of one of the same number.
  func putPart(
    _ number: Int, of upload: UploadAddress, _ content: UploadContent, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart
  /// Stores a stretch of an object as a part, which must lie within it.
  func copyPart(
    _ number: Int, of upload: UploadAddress, from source: ObjectAddress,
    range: ByteRangeSet.Spec?, if sourceConditions: Preconditions?, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart
  /// Parts in order of their numbers, of those above `number`.
  func parts(
    of upload: UploadAddress, after number: Int, limit: Int
  ) async throws(FileStoreError) -> PartsPage
  /// Uploads in order of their keys, then of when they began.
  ///
  /// - Parameter marker: the last of the page before.
  func uploads(
    in bucket: BucketName, prefix: String, after marker: UploadAddress?, limit: Int
  ) async throws(FileStoreError) -> UploadsPage
  /// Makes the object of its parts. Done again, it tells the same result.
  func completeUpload(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> WrittenObject
  func abortUpload(_ upload: UploadAddress) async throws(FileStoreError)

  // Upkeep.

  /// Gives up uploads begun before a moment, and removes what crashes and cut-off uploads left.
  func sweep(uploadsBegunBefore moment: Timestamp) async throws(FileStoreError)
}

extension FileStore {
  package func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, quota: FileQuota
  ) async throws(FileStoreError) -> UploadAddress {
    try await beginUpload(to: address, attributes: attributes, checksum: nil, quota: quota)
  }

  /// - Parameter parts: in order; nil for all that are there.
  package func completeUpload(
    _ upload: UploadAddress, parts: [PartReference]?, if condition: WriteCondition
  ) async throws(FileStoreError) -> WrittenObject {
    try await completeUpload(upload, UploadCompletion(parts: parts, condition: condition))
  }
}
