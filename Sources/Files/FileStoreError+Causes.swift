import Storage

extension FileStoreError {
  init(_ error: StorageError) {
    switch error {
    case .full: self = .storageFull
    case .closed, .tooCostly, .overloaded: self = .unavailable(retryAfter: nil)
    case .readOnly: self = .notWritable(reason: "the database's file system takes no writes")
    case .moved: self = .notWritable(reason: "the database was removed")
    case .inUse, .newerSchema, .cannotOpen, .noDatabase, .otherDatabase, .corrupt, .failed:
      self = .other("\(error)")
    }
  }

  init(_ error: DiskError) {
    if error.isFull {
      self = .storageFull
    } else if let reason = error.passingReason {
      self = .notWritable(reason: reason)
    } else {
      self = .other("\(error)")
    }
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
