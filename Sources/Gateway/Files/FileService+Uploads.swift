import Files
package import HTTPWire
package import Model

extension FileService {
  package func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, by caller: Caller
  ) async throws(Failure) -> UploadAddress {
    try gate.admit(caller, to: .write, address)
    return try await failing { () async throws(FileStoreError) in
      try await store.beginUpload(
        to: address, attributes: attributes, quota: gate.quota(of: address))
    }
  }

  package func writePart(
    _ number: Int, of upload: UploadAddress, _ content: FileUpload, by caller: Caller
  ) async throws(Failure) -> UploadPart {
    try gate.admit(caller, to: .write, upload.object)
    return try await failing { () async throws(FileStoreError) in
      try await store.putPart(
        number, of: upload, content.content, quota: gate.quota(of: upload.object))
    }
  }

  package func copyPart(
    _ number: Int, of upload: UploadAddress, from source: ObjectAddress,
    range: ByteRangeSet.Spec?, if conditions: Preconditions?, by caller: Caller
  ) async throws(Failure) -> UploadPart {
    try gate.admit(caller, to: .read, source)
    try gate.admit(caller, to: .write, upload.object)
    return try await failing { () async throws(FileStoreError) in
      try await store.copyPart(
        number, of: upload, from: source, range: range, if: conditions,
        quota: gate.quota(of: upload.object))
    }
  }

  /// - Returns: parts by number, of those above one, and whether there are more.
  package func parts(
    of upload: UploadAddress, after number: Int, limit: Int, for caller: Caller
  ) async throws(Failure) -> (parts: [UploadPart], hasMore: Bool) {
    try gate.admit(caller, to: .write, upload.object)
    let page = try await failing { () async throws(FileStoreError) in
      try await store.parts(of: upload, after: number, limit: limit)
    }
    return (page.parts, page.hasMore)
  }

  /// - Returns: uploads by key and time, and whether there are more.
  package func uploads(
    in bucket: BucketName, prefix: String, after marker: UploadAddress?, limit: Int,
    for caller: Caller
  ) async throws(Failure) -> (uploads: [UploadDescription], hasMore: Bool) {
    if gate.rule(of: bucket).access != .user { try gate.admitOperator(caller) }
    let prefix = try gate.admitListing(caller, of: bucket, prefix: prefix)
    let page = try await failing { () async throws(FileStoreError) in
      try await store.uploads(in: bucket, prefix: prefix, after: marker, limit: limit)
    }
    return (page.uploads, page.hasMore)
  }

  /// - Parameter parts: in order; nil for all that are there.
  package func completeUpload(
    _ upload: UploadAddress, parts: [PartReference]?, if condition: WriteCondition,
    by caller: Caller
  ) async throws(Failure) -> WrittenFile {
    try gate.admit(caller, to: .write, upload.object)
    return try await replacing(upload.object) { () async throws(FileStoreError) in
      WrittenFile(
        try await store.completeUpload(upload, parts: parts, if: condition))
    }
  }

  package func abortUpload(_ upload: UploadAddress, by caller: Caller) async throws(Failure) {
    try gate.admit(caller, to: .write, upload.object)
    try await failing { () async throws(FileStoreError) in try await store.abortUpload(upload) }
  }
}
