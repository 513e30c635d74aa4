import Files
package import HTTPWire
package import Model

extension FileService {
  package func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, checksum: UploadChecksum? = nil,
    by caller: Caller
  ) async throws(Failure) -> UploadAddress {
    try gate.admit(caller, to: .write, address)
    return try await failing { () async throws(FileStoreError) in
      try await store.beginUpload(
        to: address, attributes: attributes, checksum: checksum, quota: gate.quota(of: address))
    }
  }

  package func writePart(
    _ number: Int, of upload: UploadAddress, _ content: UploadContent, by caller: Caller
  ) async throws(Failure) -> UploadPart {
    try gate.admit(caller, to: .write, upload.object)
    return try await failing { () async throws(FileStoreError) in
      try await store.putPart(
        number, of: upload, content, quota: gate.quota(of: upload.object))
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

  /// - Returns: parts by number, after the given number, and whether there are more.
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

  /// A page of uploads by key and time, with common prefixes where a delimiter is given.
  package func uploads(
    in bucket: BucketName, _ request: UploadListRequest, for caller: Caller
  ) async throws(Failure) -> UploadListPage {
    var page = UploadListPage()
    var marker = request.marker
    while true {
      let (found, hasMore) = try await uploads(
        in: bucket, prefix: request.prefix, after: marker, limit: ObjectListRequest.limitMax,
        for: caller)
      for upload in found {
        let common = request.delimiter.flatMap {
          upload.address.object.key.text.folder(after: request.prefix, delimiter: $0)
        }
        if let common, common == page.commonPrefixes.last {
          marker = upload.address
          continue
        }
        guard page.uploads.count + page.commonPrefixes.count < request.limit else {
          page.next = marker
          return page
        }
        if let common { page.commonPrefixes.append(common) } else { page.uploads.append(upload) }
        marker = upload.address
      }
      guard hasMore, !found.isEmpty else { return page }
    }
  }

  package func completeUpload(
    _ upload: UploadAddress, _ completion: UploadCompletion, by caller: Caller
  ) async throws(Failure) -> WrittenObject {
    try gate.admit(caller, to: .write, upload.object)
    return try await replacing(upload.object) { () async throws(FileStoreError) in
      try await store.completeUpload(upload, completion)
    }
  }

  package func abortUpload(_ upload: UploadAddress, by caller: Caller) async throws(Failure) {
    try gate.admit(caller, to: .write, upload.object)
    try await failing { () async throws(FileStoreError) in try await store.abortUpload(upload) }
  }
}
