import Storage

extension FileStoreError {
  init(_ error: StorageError) {
    switch error {
    case .full: self = .storageFull
    case .closed, .tooCostly: self = .unavailable(retryAfter: nil)
    case .inUse, .newerSchema, .cannotOpen, .readOnly, .corrupt, .failed:
      self = .other("\(error)")
    }
  }

  init(_ error: DiskError) {
    self = error.isFull ? .storageFull : .other("\(error)")
  }

  init(_ kind: FileQuotaKind) {
    switch kind {
    case .bucket: self = .quotaExceeded(.bucket)
    case .owner: self = .quotaExceeded(.owner)
    }
  }
}

/// Runs an operation of the index and names its failure as a file store's.
func indexed<Answer>(
  _ body: () async throws(StorageError) -> Answer
) async throws(FileStoreError) -> Answer {
  do throws(StorageError) {
    return try await body()
  } catch {
    throw FileStoreError(error)
  }
}
