package import Model
import Storage

extension DiskFileStore {
  package func completeUpload(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> WrittenObject {
    do throws(FileStoreError) {
      return try await complete(upload, completion)
    } catch {
      guard error == .noSuchUpload, let done = try await completed(upload, completion) else {
        throw error
      }
      return WrittenObject(metadata: done, isNew: false)
    }
  }

  private func complete(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> WrittenObject {
    let stored = try await indexed { () async throws(StorageError) in
      try await store.parts(of: upload)
    }
    guard let stored, let begun = try await find(upload) else { throw .noSuchUpload }
    let used = try choose(completion.parts, from: stored)
    let size = used.reduce(0) { $0 + $1.part.size }
    let checksum = PartChecksums.combine(used.map(\.part), as: begun.checksum)
    try check(completion, size: size, checksum: checksum)
    return try await withActiveName { name throws(FileStoreError) in
      do throws(FileStoreError) {
        try await assemble(used.map(\.blob), of: upload, as: name)
        let object = StoredObject(
          metadata: ObjectMetadata(
            key: upload.object.key, size: size, modified: clock.now(),
            tag: ObjectTag.parts(used.map(\.part.tag)), checksum: checksum,
            attributes: begun.attributes),
          blob: name,
          origin: .parts(
            used.enumerated().map { index, stored in
              ObjectPart(
                number: index + 1, size: stored.part.size, checksum: stored.part.checksum)
            }))
        let outcome = try await indexed { () async throws(StorageError) in
          try await store.completeUpload(
            upload, as: object, used: used, if: completion.condition, at: expiryClock.now())
        }
        let isNew = try await settle(name, after: outcome)
        return WrittenObject(metadata: object.metadata, isNew: isNew)
      } catch {
        await removeFiles([name])
        throw error
      }
    }
  }

  /// Returns the result of an upload that was already completed with the same parts.
  private func completed(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> ObjectMetadata? {
    let done = try await indexed { () async throws(StorageError) in
      try await store.completedUpload(upload)
    }
    guard let done else { return nil }
    if let parts = completion.parts {
      guard ObjectTag.parts(parts.map(\.tag)) == done.tag else {
        throw .partInvalid(number: parts.first?.number ?? 1)
      }
    }
    try check(completion, size: done.size, checksum: done.checksum)
    return done
  }

  /// Compares the client's expectations with the object.
  private func check(
    _ completion: UploadCompletion, size: Int, checksum: ObjectChecksum?
  ) throws(FileStoreError) {
    if let stated = completion.size, stated != size { throw .sizeMismatch(size: size) }
    if let stated = completion.checksum, stated != checksum {
      throw .digestMismatch(stated.digest.algorithm)
    }
  }

  /// Returns the parts that the client names, after checking that they match the stored ones.
  private func choose(
    _ references: [PartReference]?, from stored: [StoredPart]
  ) throws(FileStoreError) -> [StoredPart] {
    var used = stored
    if let references {
      let numbers = references.map(\.number)
      guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else {
        throw .partOrderInvalid
      }
      let byNumber = Dictionary(uniqueKeysWithValues: stored.map { ($0.part.number, $0) })
      used = []
      for reference in references {
        guard let part = byNumber[reference.number], part.part.tag == reference.tag,
          reference.checksum == nil || reference.checksum == part.part.checksum
        else { throw .partInvalid(number: reference.number) }
        used.append(part)
      }
    }
    guard !used.isEmpty else { throw .partOrderInvalid }
    for part in used.dropLast() where part.part.size < limits.partBytesMin {
      throw .partTooSmall(number: part.part.number, bytesMin: limits.partBytesMin)
    }
    return used
  }

  /// Assembles parts in a new file. A part's file is removed with its upload, and when the part is sent
  /// again: all files exist unless one of these happened in the meantime.
  private func assemble(
    _ blobs: [BlobName], of upload: UploadAddress, as name: BlobName
  ) async throws(FileStoreError) {
    if let only = blobs.first, blobs.count == 1 {
      guard try await duplicate(only, as: name) else { throw try await absence(in: upload) }
      return
    }
    let (folder, cipher) = (folder, folder.cipher(random))
    let file = try await blocking { () throws(DiskError) in
      try IncomingFile(making: folder.incomingPath(name), encrypting: cipher)
    }
    for blob in blobs {
      let isThere = try await blocking { () throws(DiskError) in
        try folder.append(blob, to: file)
      }
      guard isThere else { throw try await absence(in: upload) }
    }
    try await blocking { () throws(DiskError) in
      try file.sync()
      try folder.sync(folder: folder.incoming)
    }
  }

  /// Returns the reason why a part's file is missing.
  private func absence(in upload: UploadAddress) async throws(FileStoreError) -> FileStoreError {
    try await find(upload) == nil ? .noSuchUpload : .conflict
  }
}
