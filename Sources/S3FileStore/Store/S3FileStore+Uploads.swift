package import Files
import HTTPTypes
import HTTPWire
package import Model
import S3Wire

extension S3FileStore {
  package func beginUpload(
    to address: ObjectAddress, attributes: ObjectAttributes, checksum: UploadChecksum?,
    quota: FileQuota
  ) async throws(FileStoreError) -> UploadAddress {
    try admit(quota)
    try admit(attributes)
    var request = S3ClientRequest(.post, address, query: [("uploads", "")])
    request.fields = S3StoredFields.fields(of: attributes)
    if let checksum {
      request.set("x-amz-checksum-algorithm", checksum.algorithm.rawValue.uppercased())
      request.set("x-amz-checksum-type", checksum.kind.rawValue)
    }
    return try await asking(about: .bucket) { () async throws(S3Failure) in
      try await client.perform(request, document: "InitiateMultipartUploadResult") {
        root, _ throws(S3Failure) in
        guard let id = root["UploadId"]?.text, !id.isEmpty else {
          throw S3Failure(unreadable: "an upload without an id")
        }
        return UploadAddress(object: address, id: id)
      }
    }
  }

  package func putPart(
    _ number: Int, of upload: UploadAddress, _ content: UploadContent, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart {
    try admit(quota)
    guard UploadPart.numbers.contains(number) else { throw .partNumberInvalid }
    guard content.byteCount ?? 0 <= content.bytesMax else {
      throw .tooLarge(bytesMax: content.bytesMax)
    }
    let reading = UploadReading(content)
    if let count = content.byteCount, count > limits.bufferBytes {
      return try await stream(reading, count, as: number, of: upload)
    }
    let buffer = try await reading.buffer(limits.bufferBytes)
    guard try await reading.isAtEnd() else { throw .tooLarge(bytesMax: limits.bufferBytes) }
    let (_, noted) = try reading.check()
    return try await send(buffer, as: number, of: upload, noted)
  }

  package func abortUpload(_ upload: UploadAddress) async throws(FileStoreError) {
    try await ask(request(.delete, upload), about: .upload)
  }

  package func parts(
    of upload: UploadAddress, after number: Int, limit: Int
  ) async throws(FileStoreError) -> PartsPage {
    let request = request(
      .get, upload, ("part-number-marker", "\(number)"), ("max-parts", "\(max(limit, 1))"))
    return try await asking(about: .upload) { () async throws(S3Failure) in
      try await client.perform(request, document: "ListPartsResult") { root, _ throws(S3Failure) in
        let parts = root.all("Part").compactMap(S3Documents.part)
          .filter { $0.number > number }.sorted { $0.number < $1.number }
        return PartsPage(
          parts: Array(parts.prefix(limit)),
          hasMore: parts.count > limit || S3Documents.isTruncated(root))
      }
    }
  }

  package func uploads(
    in bucket: BucketName, prefix: String, after marker: UploadAddress?, limit: Int
  ) async throws(FileStoreError) -> UploadsPage {
    // Without a limit: not every service supports one here.
    var request = S3ClientRequest(
      .get, bucket, query: [("uploads", ""), ("encoding-type", "url"), ("prefix", prefix)])
    if let marker {
      request.query += [
        QueryString.Parameter(name: "key-marker", value: marker.object.key.text),
        QueryString.Parameter(name: "upload-id-marker", value: marker.id),
      ]
    }
    return try await asking(about: .bucket) { () async throws(S3Failure) in
      try await client.perform(request, document: "ListMultipartUploadsResult") {
        root, _ throws(S3Failure) in
        let isEncoded = S3Documents.isEncoded(root)
        let uploads = root.all("Upload").compactMap {
          S3Documents.upload($0, in: bucket, isEncoded: isEncoded)
        }.filter { $0.address.object.key.hasPrefix(prefix) }
        return UploadsPage(
          uploads: Array(uploads.prefix(limit)),
          hasMore: uploads.count > limit || S3Documents.isTruncated(root))
      }
    }
  }

  package func sweep(uploadsBegunBefore moment: Timestamp) async throws(FileStoreError) {
    for bucket in sweptBuckets {
      do throws(FileStoreError) {
        try await sweep(bucket, before: moment)
      } catch {
        guard error == .noSuchBucket else { throw error }
      }
    }
  }

  private func sweep(_ bucket: BucketName, before moment: Timestamp) async throws(FileStoreError) {
    var marker: UploadAddress?
    while true {
      let page = try await uploads(in: bucket, prefix: "", after: marker, limit: .max)
      for upload in page.uploads where upload.begun < moment {
        do throws(FileStoreError) {
          try await abortUpload(upload.address)
        } catch {
          guard error == .noSuchUpload else { throw error }
        }
      }
      guard page.hasMore, let last = page.uploads.last?.address, last != marker else { return }
      marker = last
    }
  }
}

extension S3FileStore {
  func request(
    _ method: HTTPRequest.Method, _ upload: UploadAddress, _ query: (String, String)...
  ) -> S3ClientRequest {
    S3ClientRequest(method, upload.object, query: query + [("uploadId", upload.id)])
  }

  /// Sends a part that is in memory.
  func send(
    _ bytes: [UInt8], as number: Int, of upload: UploadAddress, _ noted: ContentDigest? = nil
  ) async throws(FileStoreError) -> UploadPart {
    var hashing = ContentHashing()
    hashing.update(bytes)
    var request = request(.put, upload, ("partNumber", "\(number)"))
    request.content = .bytes(bytes)
    for digest in [hashing.digests()[.md5], noted].compactMap({ $0 }) {
      request.fields += S3StoredFields.fields(of: digest)
    }
    do throws(S3Failure) {
      return part(number, bytes.count, try await client.perform(request), noted)
    } catch {
      throw try await failure(error, of: upload)
    }
  }

  /// Converts the error of a part: for an upload that has ended, some services fail in other ways instead
  /// of saying so.
  private func failure(
    _ error: S3Failure, of upload: UploadAddress
  ) async throws(FileStoreError) -> FileStoreError {
    if error.status == 500 { _ = try await parts(of: upload, after: 0, limit: 1) }
    return error.fileStoreError(about: .upload)
  }

  /// Streams a part.
  private func stream(
    _ reading: UploadReading, _ count: Int, as number: Int, of upload: UploadAddress
  ) async throws(FileStoreError) -> UploadPart {
    var request = request(.put, upload, ("partNumber", "\(number)"))
    for digest in reading.content.digests { request.fields += S3StoredFields.fields(of: digest) }
    let streamed = StreamedUpload(reading)
    request.content = .stream(streamed.content(byteCount: count))
    do throws(S3Failure) {
      return part(
        number, count, try await client.perform(request),
        reading.content.digests.last { $0.algorithm != .md5 })
    } catch {
      if let own = streamed.failure { throw own }
      throw try await failure(error, of: upload)
    }
  }

  private func part(
    _ number: Int, _ size: Int, _ response: S3Response, _ noted: ContentDigest?
  ) -> UploadPart {
    UploadPart(
      number: number, size: size, tag: S3Documents.tag(response.fields[.eTag] ?? ""),
      modified: moment(of: response), checksum: noted)
  }
}
