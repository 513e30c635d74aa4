package import HTTPWire
package import Model
import Storage
import Transport

extension DiskFileStore {
  package func head(
    _ address: ObjectAddress, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectMetadata {
    let metadata = try await find(address).metadata
    try judge(conditions, metadata)
    return metadata
  }

  package func get(
    _ address: ObjectAddress, range: ByteRangeSet.Spec?, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectContent {
    for _ in 0..<limits.openTriesMax {
      let found = try await find(address)
      try judge(conditions, found.metadata)
      let size = found.metadata.size
      guard let wanted = range.map({ $0.resolve(length: size) }) ?? 0..<size else {
        throw .rangeNotSatisfiable(size: size)
      }
      guard let opened = try await open(found.blob, reading: wanted) else { continue }
      guard opened.content.byteCount == size, opened.bytes?.count ?? wanted.count == wanted.count
      else { throw .other("stored file \(found.blob.text): its length differs from the index") }
      return ObjectContent(
        metadata: found.metadata, range: wanted,
        source: opened.bytes.map { .bytes($0) } ?? source(opened.content, wanted))
    }
    throw .other("the file of an object is missing")
  }

  package func list(
    _ bucket: BucketName, _ request: ObjectListRequest
  ) async throws(FileStoreError) -> ObjectListPage {
    let page = try await indexed { () async throws(StorageError) in
      try await store.listObjects(in: bucket, request)
    }
    guard let page else { throw .noSuchBucket }
    return page
  }

  package func objectParts(
    at address: ObjectAddress
  ) async throws(FileStoreError) -> ObjectParts {
    for _ in 0..<limits.openTriesMax {
      let found = try await find(address)
      // Only objects of parts have a tag with a hyphen.
      guard found.metadata.tag.contains("-") else {
        return ObjectParts(metadata: found.metadata, parts: [])
      }
      let parts = try await indexed { () async throws(StorageError) in
        try await store.parts(of: found)
      }
      // The parts of an object that was replaced in the meantime are removed.
      if parts.isEmpty, try await find(address).blob != found.blob { continue }
      return ObjectParts(metadata: found.metadata, parts: parts)
    }
    throw .conflict
  }

  func find(_ address: ObjectAddress) async throws(FileStoreError) -> StoredObject {
    let found = try await indexed { () async throws(StorageError) in
      try await store.object(at: address)
    }
    switch found {
    case .found(let object): return object
    case .noSuchKey: throw .noSuchKey
    case .noSuchBucket: throw .noSuchBucket
    }
  }

  /// Opens a file, and reads a short range.
  ///
  /// - Returns: nil if the file was removed: its object was replaced since the lookup.
  private func open(
    _ blob: BlobName, reading range: Range<Int>
  ) async throws(FileStoreError) -> (content: BlobContent, bytes: [UInt8]?)? {
    let (folder, limits) = (folder, limits)
    do throws(DiskError) {
      return try await pool.run { () throws(DiskError) in
        guard let content = try folder.open(blob) else { return nil }
        let isShort = range.count <= limits.inlineBytesMax
        return (content, isShort ? try content.read(range.count, from: range.lowerBound) : nil)
      }
    } catch {
      throw .other("\(error)")
    }
  }

  /// Returns how a long range is sent: a file as it is by the kernel, an encrypted one in pieces.
  private func source(_ content: BlobContent, _ range: Range<Int>) -> ObjectContent.Source {
    guard content.isEncrypted else { return .file(content.file) }
    let reading = FileReading(content, range, pool: pool)
    return .stream { () async throws(FileStoreError) in try await reading.next() }
  }
}
