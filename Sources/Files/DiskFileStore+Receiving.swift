import Model
import Storage

extension DiskFileStore {
  /// Content on disk that does not belong to an object yet.
  struct Received: Sendable {
    let blob: BlobName
    let size: Int
    let md5: [UInt8]
    /// A checksum that the client supplied or requested.
    let checksum: ContentDigest?
  }

  /// Writes content to a new file, verifies and syncs it, and passes it to `commit`; the file is removed
  /// unless that succeeds.
  ///
  /// - Parameter room: the bytes that the quotas leave.
  func receive<Result>(
    _ content: UploadContent, room: FileRoom,
    commit: (Received) async throws(FileStoreError) -> Result
  ) async throws(FileStoreError) -> Result {
    let bytesMax = min(content.bytesMax, room.bytes ?? .max)
    if let count = content.byteCount, count > bytesMax {
      throw excess(of: content, room: room)
    }
    return try await withActiveName { name throws(FileStoreError) in
      let (folder, pool, cipher) = (folder, pool, folder.cipher(random))
      let algorithms =
        content.digests.map(\.algorithm)
        + [content.computing, content.alsoComputing].compactMap { $0 }
      let blob = try await blocking { () throws(DiskError) in
        try IncomingBlob(
          name, in: folder, pool: pool, encrypting: cipher, computing: algorithms)
      }
      do throws(FileStoreError) {
        let size = try await take(content, to: blob, room: room)
        return try await commit(try await check(content, in: blob, size: size))
      } catch {
        await blob.stop()
        await removeFiles([name])
        throw error
      }
    }
  }

  /// Calls a closure with a new name, which the sweep leaves alone until the closure returns.
  func withActiveName<Result>(
    _ body: (BlobName) async throws(FileStoreError) -> Result
  ) async throws(FileStoreError) -> Result {
    let name = BlobName(random: random)
    active.insert(name)
    defer { active.remove(name) }
    return try await body(name)
  }

  private func take(
    _ content: UploadContent, to blob: IncomingBlob, room: FileRoom
  ) async throws(FileStoreError) -> Int {
    let bytesMax = min(content.bytesMax, room.bytes ?? .max)
    var size = 0
    while let piece = try await content.next() {
      size += piece.count
      guard size <= bytesMax else { throw excess(of: content, room: room) }
      guard size <= content.byteCount ?? .max else { throw .incomplete }
      do throws(DiskError) { try await blob.append(piece) } catch { throw FileStoreError(error) }
    }
    guard size == content.byteCount ?? size else { throw .incomplete }
    return size
  }

  private func check(
    _ content: UploadContent, in blob: IncomingBlob, size: Int
  ) async throws(FileStoreError) -> Received {
    let digests: [ContentDigest.Algorithm: ContentDigest]
    do throws(DiskError) { digests = try await blob.finish() } catch { throw FileStoreError(error) }
    let promised = content.digests + (try content.trailingDigests())
    for digest in promised where digests[digest.algorithm] != digest {
      throw .digestMismatch(digest.algorithm)
    }
    let noted =
      content.alsoComputing ?? promised.last { $0.algorithm != .md5 }?.algorithm
      ?? content.computing
    return Received(
      blob: blob.name, size: size, md5: digests[.md5]?.bytes ?? [],
      checksum: noted.flatMap { digests[$0] })
  }

  /// Returns the error for content that is too long for one request or for a quota.
  private func excess(
    of content: UploadContent, room: FileRoom
  ) -> FileStoreError {
    guard let bytes = room.bytes, bytes < content.bytesMax else {
      return .tooLarge(bytesMax: content.bytesMax)
    }
    return FileStoreError(room.bound)
  }
}
