import Model
import Storage

extension DiskFileStore {
  /// Content that is on disk, without an object yet.
  struct Received: Sendable {
    let blob: BlobName
    let size: Int
    let md5: [UInt8]
    /// One that the client gave or asked for.
    let checksum: ContentDigest?
  }

  /// Takes content to a new file, checks it, syncs it, and hands it to `commit`; nothing is left of
  /// it unless that succeeds.
  ///
  /// - Parameter room: how much the quotas leave.
  func receive<Answer>(
    _ content: UploadContent, room: FileRoom,
    commit: (Received) async throws(FileStoreError) -> Answer
  ) async throws(FileStoreError) -> Answer {
    let bytesMax = min(content.bytesMax, room.bytes ?? .max)
    if let count = content.byteCount, count > bytesMax {
      throw excess(of: content, room: room)
    }
    return try await keepingActive { name throws(FileStoreError) in
      let (folder, pool) = (folder, pool)
      let algorithms =
        content.digests.map(\.algorithm)
        + [content.computing, content.alsoComputing].compactMap { $0 }
      let blob = try await blocking { () throws(DiskError) in
        try IncomingBlob(name, in: folder, pool: pool, computing: algorithms)
      }
      do throws(FileStoreError) {
        let size = try await take(content, to: blob, room: room)
        return try await commit(try await check(content, in: blob, size: size))
      } catch {
        await blob.stop()
        await bury([name])
        throw error
      }
    }
  }

  /// Gives out a new name, which the sweep leaves alone meanwhile.
  func keepingActive<Answer>(
    _ body: (BlobName) async throws(FileStoreError) -> Answer
  ) async throws(FileStoreError) -> Answer {
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

  /// What stops content that is too long: what one request may bring, or a quota.
  private func excess(
    of content: UploadContent, room: FileRoom
  ) -> FileStoreError {
    guard let bytes = room.bytes, bytes < content.bytesMax else {
      return .tooLarge(bytesMax: content.bytesMax)
    }
    return FileStoreError(room.bound)
  }
}
