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
    var request = S3Request(.put, address)
    try put(write.condition, on: existing, in: &request)
    request.fields += S3ObjectFields.fields(of: write.attributes)
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
    var request = S3Request(.delete, address)
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
    _ bytes: [UInt8], _ reading: UploadReading, _ request: S3Request, at address: ObjectAddress,
    _ attributes: ObjectAttributes
  ) async throws(FileStoreError) -> ObjectMetadata {
    let (md5, noted) = try reading.check()
    var request = request
    request.content = .bytes(bytes)
    for digest in [md5, noted].compactMap({ $0 }) {
      request.fields += S3ObjectFields.fields(of: digest)
    }
    do throws(S3Failure) {
      return metadata(
        of: try await client.perform(request), at: address, size: bytes.count, noted, attributes)
    } catch {
      // The attempt before may have been carried out, its answer lost: then what is there is ours.
      if error.status == 412, error.attempts > 1, let md5, let found = try await lookUp(address),
        found.tag == ObjectTag.whole(md5: md5.bytes), found.size == bytes.count
      {
        return found
      }
      throw error.fileStoreError(about: .object)
    }
  }

  /// Sends content as it comes in.
  private func stream(
    _ reading: UploadReading, _ count: Int, _ request: S3Request, at address: ObjectAddress,
    _ attributes: ObjectAttributes
  ) async throws(FileStoreError) -> ObjectMetadata {
    var request = request
    for digest in reading.content.digests { request.fields += S3ObjectFields.fields(of: digest) }
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
    of answer: S3Response, at address: ObjectAddress, size: Int, _ noted: ContentDigest?,
    _ attributes: ObjectAttributes
  ) -> ObjectMetadata {
    ObjectMetadata(
      key: address.key, size: size, modified: moment(of: answer),
      tag: S3Documents.tag(answer.fields[.eTag] ?? ""),
      checksum: noted.map { ObjectChecksum($0) }, attributes: attributes)
  }

  /// Sends content in parts, each of which is in memory while it is sent.
  ///
  /// - Parameter first: what has been read already.
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
        // Before the next one fills: both at once would be twice as much.
        buffer = []
        buffer = try await reading.buffer(limits.bufferBytes)
      }
      _ = try reading.check()
      return try await complete(upload, parts, UploadCompletion(condition: condition)).metadata
    } catch {
      // Also where this task is cancelled: what nobody gives up is paid for.
      await Task { try? await abortUpload(upload) }.value
      throw error
    }
  }
}
