package import HTTPWire
package import Model
import Storage
import Transport

extension DiskFileStore {
  package func put(
    _ content: UploadContent, at address: ObjectAddress, _ write: ObjectWrite
  ) async throws(FileStoreError) -> WrittenObject {
    guard write.attributes.customBytes <= ObjectAttributes.customBytesMax else {
      throw .metadataTooLarge(bytesMax: ObjectAttributes.customBytesMax)
    }
    // Checked again with the write; checked here to spare the client the upload.
    if write.condition != .none { try await judge(write.condition, at: address) }
    let room = try await room(in: address.bucket, write.quota, replacing: address.key)
    var attributes = write.attributes
    attributes.serverSideEncryption = attributes.serverSideEncryption ?? room.encryption
    let written = attributes
    return try await receive(content, room: room) {
      received throws(FileStoreError) in
      let metadata = ObjectMetadata(
        key: address.key, size: received.size, modified: clock.now(),
        tag: ObjectTag.whole(md5: received.md5),
        checksum: received.checksum.map { ObjectChecksum($0) },
        attributes: written)
      return try await commit(
        StoredObject(metadata: metadata, blob: received.blob), at: address,
        if: write.condition, quota: write.quota)
    }
  }

  package func delete(
    _ address: ObjectAddress, if condition: WriteCondition
  ) async throws(FileStoreError) -> Bool {
    let removal = try await indexed { () async throws(StorageError) in
      try await store.removeObject(at: address, if: condition)
    }
    switch removal {
    case .removed(let dead):
      await removeFiles([dead])
      return true
    case .noSuchKey: return false
    case .noSuchBucket: throw .noSuchBucket
    case .conditionFailed: throw .preconditionFailed
    }
  }

  package func copy(
    _ source: ObjectAddress, if sourceConditions: Preconditions?, to target: ObjectAddress,
    attributes: ObjectAttributes?, _ write: CopyWrite
  ) async throws(FileStoreError) -> WrittenObject {
    guard attributes?.customBytes ?? 0 <= ObjectAttributes.customBytesMax else {
      throw .metadataTooLarge(bytesMax: ObjectAttributes.customBytesMax)
    }
    var encryption = write.encryption
    if encryption == nil { encryption = try await settings(of: target.bucket).encryption }
    for _ in 0..<limits.openTriesMax {
      let found = try await find(source)
      try judgeSource(sourceConditions, found.metadata)
      let copied = try await withActiveName { name throws(FileStoreError) -> WrittenObject? in
        guard try await duplicate(found.blob, as: name) else { return nil }
        let checksum: ObjectChecksum?
        do throws(FileStoreError) {
          checksum = try await self.checksum(write.checksum, of: name, found.metadata)
        } catch {
          await removeFiles([name])
          throw error
        }
        var attributes = attributes ?? found.metadata.attributes
        attributes.tags = write.tags ?? found.metadata.attributes.tags
        attributes.serverSideEncryption = encryption
        let metadata = ObjectMetadata(
          key: target.key, size: found.metadata.size, modified: clock.now(),
          tag: found.metadata.tag, checksum: checksum,
          attributes: attributes)
        do throws(FileStoreError) {
          return try await commit(
            StoredObject(metadata: metadata, blob: name, origin: .copy(of: found.blob)),
            at: target, if: write.condition, quota: write.quota)
        } catch {
          await removeFiles([name])
          throw error
        }
      }
      if let copied { return copied }
    }
    throw .conflict
  }

  package func tags(of address: ObjectAddress) async throws(FileStoreError) -> TagSet {
    try await find(address).metadata.attributes.tags
  }

  package func setTags(
    _ tags: TagSet, of address: ObjectAddress
  ) async throws(FileStoreError) {
    let found = try await indexed { () async throws(StorageError) in
      try await store.setTags(tags, at: address)
    }
    switch found {
    case .found: return
    case .noSuchKey: throw .noSuchKey
    case .noSuchBucket: throw .noSuchBucket
    }
  }

  /// Returns the checksum of a copy.
  ///
  /// - Parameters:
  ///   - algorithm: nil for the checksum that the source has.
  ///   - blob: the copy's content, which nothing refers to yet.
  private func checksum(
    _ algorithm: ContentDigest.Algorithm?, of blob: BlobName, _ source: ObjectMetadata
  ) async throws(FileStoreError) -> ObjectChecksum? {
    guard let algorithm else { return source.checksum }
    if let known = source.checksum, known.kind == .fullObject, known.digest.algorithm == algorithm {
      return known
    }
    let folder = folder
    let content: BlobContent?
    do throws(DiskError) {
      content = try await pool.run { () throws(DiskError) in try folder.open(blob) }
    } catch {
      throw .other("\(error)")
    }
    guard let content else { throw .other("the file of an object is missing") }
    let reading = FileReading(content, 0..<content.byteCount, pool: pool)
    var hashing = ContentHashing([algorithm])
    while let piece = try await reading.next() { hashing.update(piece) }
    return hashing.digests()[algorithm].map { ObjectChecksum($0) }
  }

  /// Commits a file as an object's content in the index, and then moves it.
  private func commit(
    _ object: StoredObject, at address: ObjectAddress, if condition: WriteCondition,
    quota: FileQuota
  ) async throws(FileStoreError) -> WrittenObject {
    let outcome = try await indexed { () async throws(StorageError) in
      try await store.commitObject(object, at: address, if: condition, quota: quota)
    }
    return WrittenObject(
      metadata: object.metadata, isNew: try await settle(object.blob, after: outcome))
  }

  /// Moves a committed file into place, and removes the files it replaced.
  ///
  /// - Returns: whether the object is new.
  func settle(
    _ blob: BlobName, after outcome: ObjectCommit
  ) async throws(FileStoreError) -> Bool {
    switch outcome {
    case .stored(let isNew, let dead):
      let folder = folder
      await pool.run {
        // The sweep finds and moves it if this fails.
        try? folder.settle(blob)
        folder.remove(dead)
      }
      return isNew
    case .noSuchBucket: throw .noSuchBucket
    case .noSuchUpload: throw .noSuchUpload
    case .partsChanged: throw .conflict
    case .conditionFailed: throw .preconditionFailed
    case .overQuota(let kind): throw FileStoreError(kind)
    }
  }

  /// Duplicates content: by a link if the file system allows one more, else by a copy.
  ///
  /// - Returns: false if the content no longer exists.
  func duplicate(_ blob: BlobName, as name: BlobName) async throws(FileStoreError) -> Bool {
    let folder = folder
    return try await blocking { () throws(DiskError) in
      do throws(DiskError) {
        guard try folder.link(blob, as: name) else { return false }
      } catch {
        guard error.isBeyondLinks else { throw error }
        let file = try IncomingFile(making: folder.incomingPath(name))
        do throws(DiskError) {
          try file.append(contentsOf: folder.objectPath(blob))
        } catch {
          folder.remove([name])
          guard error.isAbsent else { throw error }
          return false
        }
        try file.sync()
      }
      try folder.sync(folder: folder.incoming)
      return true
    }
  }

  func room(
    in bucket: BucketName, _ quota: FileQuota, replacing key: ObjectKey?
  ) async throws(FileStoreError) -> FileRoom {
    let room = try await indexed { () async throws(StorageError) in
      try await store.room(in: bucket, within: quota, replacing: key)
    }
    guard let room else { throw .noSuchBucket }
    return room
  }

  private func judge(
    _ condition: WriteCondition, at address: ObjectAddress
  ) async throws(FileStoreError) {
    let found = try await indexed { () async throws(StorageError) in
      try await store.object(at: address)
    }
    let state: ObjectState? =
      if case .found(let object) = found { object.metadata.state } else { nil }
    guard condition.holds(for: state) else { throw .preconditionFailed }
  }
}
