package import Model
import Storage

extension DiskFileStore: FileStore {
  package func sweep(uploadsBegunBefore moment: Timestamp) async throws(FileStoreError) {
    try await expire(before: moment)
    try await indexed { () async throws(StorageError) in
      try await store.forgetUploads(completedBefore: moment)
    }
    try await removeDead()
    try await clearIncoming()
  }

  private func expire(before moment: Timestamp) async throws(FileStoreError) {
    while true {
      let old = try await indexed { () async throws(StorageError) in
        try await store.uploads(begunBefore: moment, limit: limits.sweepBatch)
      }
      guard !old.isEmpty else { return }
      for upload in old {
        let dead = try await indexed { () async throws(StorageError) in
          try await store.abortUpload(upload)
        }
        await removeFiles(dead ?? [])
      }
    }
  }

  private func removeDead() async throws(FileStoreError) {
    while true {
      let dead = try await indexed { () async throws(StorageError) in
        try await store.deadBlobs(limit: limits.sweepBatch)
      }
      let gone = await removeFiles(dead)
      // Files that cannot be removed stay recorded for the next sweep.
      guard !gone.isEmpty else { return }
      try await indexed { () async throws(StorageError) in
        try await store.forget(deadBlobs: gone)
      }
    }
  }

  /// Clears `incoming` of files that are not being written: a crash left them, before or after the
  /// commit of the index.
  private func clearIncoming() async throws(FileStoreError) {
    let folder = folder
    let incomingFiles = try await blocking { () throws(DiskError) in try folder.incomingFiles() }
    // Checked after reading the folder: a name becomes active before its file exists.
    let leftovers = incomingFiles.filter { !active.contains($0) }
    for start in stride(from: 0, to: leftovers.count, by: limits.sweepBatch) {
      let batch = Array(leftovers[start..<min(start + limits.sweepBatch, leftovers.count)])
      let referred = try await indexed { () async throws(StorageError) in
        try await store.referredBlobs(among: batch)
      }
      try await blocking { () throws(DiskError) in
        for blob in batch where referred.contains(blob) { try folder.settle(blob) }
        folder.remove(batch.filter { !referred.contains($0) })
      }
    }
  }
}
