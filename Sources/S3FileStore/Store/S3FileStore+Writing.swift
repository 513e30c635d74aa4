package import Files
import HTTPTypes
package import Model
import S3Wire

extension S3FileStore {
  package func put(
    _ content: UploadContent, at address: ObjectAddress, _ write: ObjectWrite
  ) async throws(FileStoreError) -> WrittenObject {
    try admit(write.quota)
    try admit(write.attributes)
    guard content.byteCount ?? 0 <= content.bytesMax else {
      throw .tooLarge(bytesMax: content.bytesMax)
    }
    let existing = try await lookUp(address)
    var request = S3ClientRequest(.put, address)
    try put(write.condition, on: existing, in: &request)
    request.fields += S3StoredFields.fields(of: write.attributes)
    let reading = UploadReading(content)
    let written: ObjectMetadata
    if let count = content.byteCount, count > limits.bufferBytes, count <= limits.singleBytesMax {
      written = try await stream(reading, count, request, at: address, write.attributes)
    } else {
      let buffer = try await reading.buffer(limits.bufferBytes)
      if try await reading.isAtEnd() {
        written = try await send(buffer, reading, request, at: address, write.attributes)
      } else {
        written = try await sendParts(
          buffer, reading, at: address, write.attributes, if: write.condition)
      }
    }
    return WrittenObject(metadata: written, isNew: existing == nil)
  }

  package func delete(
    _ address: ObjectAddress, if condition: WriteCondition
  ) async throws(FileStoreError) -> Bool {
    let existing = try await lookUp(address)
    if existing == nil, !(try await has(address.bucket)) { throw .noSuchBucket }
    var request = S3ClientRequest(.delete, address)
    guard condition.holds(for: existing?.state) else { throw .preconditionFailed }
    guard let existing else { return false }
    if condition != .none { request.set("if-match", "\"\(existing.tag)\"") }
    do throws(FileStoreError) {
      try await ask(request, about: .object)
      return true
    } catch {
      guard error == .noSuchKey else { throw error }
      return false
    }
  }

  /// Sends content that is in memory.
  private func send(
    _ bytes: [UInt8], _ reading: UploadReading, _ request: S3ClientRequest,
    at address: ObjectAddress,
    _ attributes: ObjectAttributes
  ) async throws(FileStoreError) -> ObjectMetadata {
    let (md5, noted) = try reading.check()
    var request = request
    request.content = .bytes(bytes)
    for digest in [md5, noted].compactMap({ $0 }) {
      request.fields += S3StoredFields.fields(of: digest)
    }
    do throws(S3Failure) {
      return metadata(
        of: try await client.perform(request), at: address, size: bytes.count, noted, attributes)
    } catch {
      // An earlier attempt may have succeeded, its response lost: then the stored object is ours.
      if error.status == 412, error.attempts > 1, let md5, let found = try await lookUp(address),
        found.tag == ObjectTag.whole(md5: md5.bytes), found.size == bytes.count
      {
        return found
      }
      throw error.fileStoreError(about: .object)
    }
  }

  /// Streams content.
  private func stream(
    _ reading: UploadReading, _ count: Int, _ request: S3ClientRequest, at address: ObjectAddress,
    _ attributes: ObjectAttributes
  ) async throws(FileStoreError) -> ObjectMetadata {
    var request = request
    for digest in reading.content.digests { request.fields += S3StoredFields.fields(of: digest) }
    let noted = reading.content.digests.last { $0.algorithm != .md5 }
    let upload = StreamedUpload(reading)
    request.content = .stream(upload.content(byteCount: count))
    do throws(S3Failure) {
      return metadata(
        of: try await client.perform(request), at: address, size: count, noted, attributes)
    } catch {
      throw upload.failure ?? error.fileStoreError(about: .object)
    }
  }

  private func metadata(
    of response: S3Response, at address: ObjectAddress, size: Int, _ noted: ContentDigest?,
    _ attributes: ObjectAttributes
  ) -> ObjectMetadata {
    ObjectMetadata(
      key: address.key, size: size, modified: moment(of: response),
      tag: S3Documents.tag(response.fields[.eTag] ?? ""),
      checksum: noted.map { ObjectChecksum($0) }, attributes: attributes)
  }

  /// Sends content in parts, each of which is in memory while it is sent.
  ///
  /// - Parameter first: bytes that were read already.
  private func sendParts(
    _ first: [UInt8], _ reading: UploadReading, at address: ObjectAddress,
    _ attributes: ObjectAttributes, if condition: WriteCondition
  ) async throws(FileStoreError) -> ObjectMetadata {
    let upload = try await beginUpload(
      to: address, attributes: attributes, checksum: nil, quota: .none)
    do throws(FileStoreError) {
      var parts: [UploadPart] = []
      var buffer = first
      while !buffer.isEmpty {
        parts.append(try await send(buffer, as: parts.count + 1, of: upload))
        // Released before the next one is filled, so that only one is in memory.
        buffer = []
        buffer = try await reading.buffer(limits.bufferBytes)
      }
      _ = try reading.check()
      return try await complete(upload, parts, UploadCompletion(condition: condition)).metadata
    } catch {
      // Also if this task is cancelled: uploads that are not aborted are billed.
      await Task { try? await abortUpload(upload) }.value
      throw error
    }
  }
}

extension S3FileStore {
  /// Checks a condition against the present object, to spare the client the upload, and adds it to the
  /// request, so that the service checks it again atomically with the write.
  func put(
    _ condition: WriteCondition, on existing: ObjectMetadata?, in request: inout S3ClientRequest
  ) throws(FileStoreError) {
    guard condition.holds(for: existing?.state) else { throw .preconditionFailed }
    guard condition != .none else { return }
    // S3 supports one tag, or that there is no object: the checked state must still hold.
    if let existing {
      request.set("if-match", "\"\(existing.tag)\"")
    } else {
      request.set("if-none-match", "*")
    }
  }

  /// Refuses quotas: usage is not counted here, so that they cannot be enforced.
  func admit(_ quota: FileQuota) throws(FileStoreError) {
    guard quota.bucketBytesMax == nil, quota.ownerBytesMax == nil else { throw .unsupported }
  }

  /// Refuses attributes that are too large.
  func admit(_ attributes: ObjectAttributes?) throws(FileStoreError) {
    guard attributes?.customBytes ?? 0 <= ObjectAttributes.customBytesMax else {
      throw .metadataTooLarge(bytesMax: ObjectAttributes.customBytesMax)
    }
  }
}

extension S3FileStore {
  package func tags(of address: ObjectAddress) async throws(FileStoreError) -> TagSet {
    try await asking(about: .object) { () async throws(S3Failure) in
      try await client.perform(
        S3ClientRequest(.get, address, query: [("tagging", "")]), document: "Tagging"
      ) { root, _ throws(S3Failure) in
        let tags = (root["TagSet"]?.all("Tag") ?? []).map {
          TagSet.Tag(key: $0["Key"]?.text ?? "", value: $0["Value"]?.text ?? "")
        }
        guard let set = try? TagSet(tags) else { throw S3Failure(unreadable: "invalid tags") }
        return set
      }
    }
  }

  package func setTags(
    _ tags: TagSet, of address: ObjectAddress
  ) async throws(FileStoreError) {
    var request = S3ClientRequest(tags.isEmpty ? .delete : .put, address, query: [("tagging", "")])
    if !tags.isEmpty {
      var writer = XMLWriter("Tagging")
      writer.element("TagSet") { writer in
        for tag in tags.tags {
          writer.element("Tag") { writer in
            writer.element("Key", tag.key)
            writer.element("Value", tag.value)
          }
        }
      }
      let document = writer.finished()
      var hashing = ContentHashing()
      hashing.update(document)
      if let digest = hashing.digests()[.md5] {
        request.fields += S3StoredFields.fields(of: digest)
      }
      request.content = .bytes(document)
    }
    try await ask(request, about: .object)
  }
}
