package import Model

/// Multipart uploads. Changes that were confirmed to a client survive a power failure.
extension Store {
  /// - Returns: false if the bucket does not exist.
  package func beginUpload(
    _ upload: UploadAddress, attributes: ObjectAttributes, checksum: UploadChecksum?,
    owner: String, at moment: Timestamp
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      guard let bucket = try BucketTable(database: database).id(of: upload.object.bucket) else {
        return false
      }
      var attributes = attributes
      attributes.serverSideEncryption =
        try attributes.serverSideEncryption
        ?? BucketTable(database: database).settings(of: bucket).encryption
      try UploadTable(database: database).insert(
        upload, bucket: bucket, attributes: attributes, checksum: checksum, owner: owner, at: moment
      )
      return true
    }
  }

  package func upload(_ address: UploadAddress) async throws(StorageError) -> StoredUpload? {
    try await reader.read { try UploadTable(database: $0).find(address)?.upload }
  }

  /// Writes a part whose content is already on disk; replaces one with the same number.
  package func commitPart(
    _ stored: StoredPart, of upload: UploadAddress, quota: FileQuota
  ) async throws(StorageError) -> PartCommit {
    try await writer.write(.powerFailure) { database, _ in
      guard let found = try UploadTable(database: database).find(upload) else {
        return .noSuchUpload
      }
      let table = PartTable(database: database, upload: upload.id)
      let old = try table.list(after: stored.part.number - 1, limit: 1).first {
        $0.part.number == stored.part.number
      }
      var quota = quota
      quota.owner = found.upload.owner
      let growth = Int64(stored.part.size - (old?.part.size ?? 0))
      let usage = FileUsage(database: database, bucket: found.bucket)
      let change = FileUsage.Change(owner: quota.owner, bytes: growth)
      if let kind = try usage.add([change], within: quota) { return .overQuota(kind) }
      try table.put(stored)
      if let old { try DeadBlobTable(database: database).insert([old.blob]) }
      return .stored(dead: old?.blob)
    }
  }

  /// - Returns: the parts after `number`, sorted by number; nil if the upload does not exist.
  package func parts(
    of upload: UploadAddress, after number: Int = 0, limit: Int = UploadPart.numbers.count
  ) async throws(StorageError) -> [StoredPart]? {
    try await reader.read { database in
      guard try UploadTable(database: database).find(upload) != nil else { return nil }
      return try PartTable(database: database, upload: upload.id).list(after: number, limit: limit)
    }
  }

  /// - Returns: uploads sorted by key, then by time; nil if the bucket does not exist.
  package func uploads(
    in bucket: BucketName, prefix: String, after marker: UploadAddress?, limit: Int
  ) async throws(StorageError) -> [UploadDescription]? {
    try await longReader.read { database in
      guard let number = try BucketTable(database: database).id(of: bucket) else { return nil }
      return try UploadTable(database: database).list(
        bucket: number, name: bucket, prefix: prefix, after: marker, limit: limit)
    }
  }

  package func uploads(
    begunBefore moment: Timestamp, limit: Int
  ) async throws(StorageError) -> [UploadAddress] {
    try await reader.read {
      try UploadTable(database: $0).list(begunBefore: moment, limit: limit)
    }
  }

  /// Writes the object that was assembled from parts, and ends the upload.
  ///
  /// - Parameter used: the assembled parts; if one has been replaced since, nothing is written.
  package func completeUpload(
    _ upload: UploadAddress, as object: StoredObject, used: [StoredPart],
    if condition: WriteCondition, at now: Timestamp
  ) async throws(StorageError) -> ObjectCommit {
    try await writer.write(.powerFailure) { database, _ in
      guard let found = try UploadTable(database: database).find(upload) else {
        return .noSuchUpload
      }
      let parts = try PartTable(database: database, upload: upload.id).list()
      guard Set(parts).isSuperset(of: used) else { return .partsChanged }
      let owner = found.upload.owner
      let bytes = parts.reduce(0) { $0 + Int64($1.part.size) }
      // The bytes were counted and checked against the quota as the parts arrived.
      let commit = try ObjectWriting(database: database, bucket: found.bucket).put(
        object, if: condition, quota: FileQuota(owner: owner),
        freed: [FileUsage.Change(owner: owner, bytes: -bytes)], dead: parts.map(\.blob))
      if case .stored = commit {
        try UploadTable(database: database).remove(upload.id)
        try CompletedUploadTable(database: database).insert(
          upload, bucket: found.bucket, as: object.metadata, at: now)
      }
      return commit
    }
  }

  /// - Returns: the object that the upload created, without its attributes; nil if the upload was not
  ///   completed, or too long ago.
  package func completedUpload(
    _ upload: UploadAddress
  ) async throws(StorageError) -> ObjectMetadata? {
    try await reader.read { try CompletedUploadTable(database: $0).find(upload) }
  }

  /// Removes the results of uploads that were completed before a moment.
  package func forgetUploads(completedBefore moment: Timestamp) async throws(StorageError) {
    try await writer.write { database, _ in
      try CompletedUploadTable(database: database).remove(completedBefore: moment)
    }
  }

  /// - Returns: the files of its parts, recorded as dead; nil if the upload does not exist.
  package func abortUpload(_ upload: UploadAddress) async throws(StorageError) -> [BlobName]? {
    try await writer.write(.powerFailure, frees: true) { database, _ in
      guard let found = try UploadTable(database: database).find(upload) else { return nil }
      let parts = try PartTable(database: database, upload: upload.id).list()
      let bytes = parts.reduce(0) { $0 + Int64($1.part.size) }
      _ = try FileUsage(database: database, bucket: found.bucket).add(
        [FileUsage.Change(owner: found.upload.owner, bytes: -bytes)], within: .none)
      try UploadTable(database: database).remove(upload.id)
      try DeadBlobTable(database: database).insert(parts.map(\.blob))
      return parts.map(\.blob)
    }
  }
}
