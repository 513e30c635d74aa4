package import HTTPWire
package import Model
import Storage
import Synchronization
import Transport

extension DiskFileStore {
  package func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, checksum: UploadChecksum?,
    quota: FileQuota
  ) async throws(FileStoreError) -> UploadAddress {
    guard attributes.customBytes <= ObjectAttributes.customBytesMax else {
      throw .metadataTooLarge(bytesMax: ObjectAttributes.customBytesMax)
    }
    let upload = UploadAddress(object: address, id: BlobName(random: random).text)
    let isBegun = try await indexed { () async throws(StorageError) in
      try await store.beginUpload(
        upload, attributes: attributes, checksum: checksum, owner: quota.owner,
        at: expiryClock.now())
    }
    guard isBegun else { throw .noSuchBucket }
    return upload
  }

  package func putPart(
    _ number: Int, of upload: UploadAddress, _ content: UploadContent, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart {
    guard UploadPart.numbers.contains(number) else { throw .partNumberInvalid }
    guard let begun = try await find(upload) else { throw .noSuchUpload }
    // The object's checksum is computed from those of the parts, so each needs one.
    var content = content
    content.alsoComputing = begun.checksum?.algorithm
    let room = try await room(in: upload.object.bucket, quota, replacing: nil)
    return try await receive(content, room: room) {
      received throws(FileStoreError) in
      let part = UploadPart(
        number: number, size: received.size, tag: ObjectTag.whole(md5: received.md5),
        modified: clock.now(), checksum: received.checksum)
      let outcome = try await indexed { () async throws(StorageError) in
        try await store.commitPart(
          StoredPart(part: part, blob: received.blob), of: upload, quota: quota)
      }
      switch outcome {
      case .stored(let dead):
        _ = try await settle(
          received.blob, after: .stored(isNew: true, dead: dead.map { [$0] } ?? []))
        return part
      case .noSuchUpload: throw .noSuchUpload
      case .overQuota(let kind): throw FileStoreError(kind)
      }
    }
  }

  package func copyPart(
    _ number: Int, of upload: UploadAddress, from source: ObjectAddress,
    range: ByteRangeSet.Spec?, if sourceConditions: Preconditions?, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart {
    let found = try await get(source, range: range, conditions: nil)
    if case .closed(_, let last) = range, last >= found.metadata.size {
      throw .rangeNotSatisfiable(size: found.metadata.size)
    }
    try judgeSource(sourceConditions, found.metadata)
    return try await putPart(number, of: upload, reading(found), quota: quota)
  }

  /// Returns the requested bytes of an object as content to be stored.
  private func reading(_ found: ObjectContent) -> UploadContent {
    let next: @Sendable () async throws(FileStoreError) -> [UInt8]?
    switch found.source {
    case .bytes(let bytes):
      let rest = Mutex([bytes])
      next = { () async throws(FileStoreError) in rest.withLock { $0.popLast() } }
    case .file(let file):
      let reading = FileReading(BlobContent(plain: file), found.range, pool: pool)
      next = { () async throws(FileStoreError) in try await reading.next() }
    case .stream(let stream):
      next = stream
    }
    return UploadContent(byteCount: found.range.count, next: next)
  }

  package func parts(
    of upload: UploadAddress, after number: Int, limit: Int
  ) async throws(FileStoreError) -> PartsPage {
    let parts = try await indexed { () async throws(StorageError) in
      try await store.parts(of: upload, after: number, limit: limit + 1)
    }
    guard let parts else { throw .noSuchUpload }
    return PartsPage(parts: parts.prefix(limit).map(\.part), hasMore: parts.count > limit)
  }

  package func uploads(
    in bucket: BucketName, prefix: String, after marker: UploadAddress?, limit: Int
  ) async throws(FileStoreError) -> UploadsPage {
    let uploads = try await indexed { () async throws(StorageError) in
      try await store.uploads(in: bucket, prefix: prefix, after: marker, limit: limit + 1)
    }
    guard let uploads else { throw .noSuchBucket }
    return UploadsPage(uploads: Array(uploads.prefix(limit)), hasMore: uploads.count > limit)
  }

  package func abortUpload(_ upload: UploadAddress) async throws(FileStoreError) {
    let dead = try await indexed { () async throws(StorageError) in
      try await store.abortUpload(upload)
    }
    guard let dead else { throw .noSuchUpload }
    await removeFiles(dead)
  }

  func find(_ upload: UploadAddress) async throws(FileStoreError) -> StoredUpload? {
    try await indexed { () async throws(StorageError) in try await store.upload(upload) }
  }
}
