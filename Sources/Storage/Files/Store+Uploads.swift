package import Model

/// Uploads in parts. What a client was told of them survives a power failure.
extension Store {
  /// - Returns: false where there is no such bucket.
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

  /// Writes a part whose content is on disk already, in place of one of its number.
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

  /// - Returns: parts by number, of those above one; nil where there is no such upload.
  package func parts(
    of upload: UploadAddress, after number: Int = 0, limit: Int = UploadPart.numbers.count
  ) async throws(StorageError) -> [StoredPart]? {
    try await reader.read { database in
      guard try UploadTable(database: database).find(upload) != nil else { return nil }
      return try PartTable(database: database, upload: upload.id).list(after: number, limit: limit)
    }
  }

  /// - Returns: uploads by key, then by time; nil where there is no such bucket.
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

  /// Writes the object that parts were put together to, and ends their upload.
  ///
  /// - Parameter used: the parts as they were then; where one has been replaced since, nothing is
  ///   written.
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
      // Its bytes were counted, and held against the quota, as they came.
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

  /// - Returns: the object that an upload was completed to, without its attributes; nil where it was
  ///   not, or too long ago.
  package func completedUpload(
    _ upload: UploadAddress
  ) async throws(StorageError) -> ObjectMetadata? {
    try await reader.read { try CompletedUploadTable(database: $0).find(upload) }
  }

  /// Forgets the results of uploads that were completed before a moment.
  package func forgetUploads(completedBefore moment: Timestamp) async throws(StorageError) {
    try await writer.write { database, _ in
      try CompletedUploadTable(database: database).remove(completedBefore: moment)
    }
  }

  /// - Returns: the files of its parts, noted as dead; nil where there is no such upload.
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
