package import Files
import HTTPTypes
package import HTTPWire
package import Model
import S3Wire

extension S3FileStore {
  package func copy(
    _ source: ObjectAddress, if sourceConditions: Preconditions?, to target: ObjectAddress,
    attributes: ObjectAttributes?, _ write: CopyWrite
  ) async throws(FileStoreError) -> WrittenObject {
    try admit(write.quota)
    try admit(attributes)
    let found = try await find(source)
    try judgeSource(sourceConditions, found)
    if found.size > limits.copyBytesMax {
      var attributes = attributes ?? found.attributes
      attributes.tags = if let tags = write.tags { tags } else { try await self.tags(of: source) }
      return try await copyParts(
        found, of: source, to: target, attributes, if: write.condition)
    }
    let existing = source == target ? found : try await lookUp(target)
    var request = copyRequest(S3ClientRequest(.put, target), from: source, tag: found.tag)
    try put(write.condition, on: existing, in: &request)
    // S3 requires that a copy onto itself changes something.
    if attributes != nil || source == target {
      request.set("x-amz-metadata-directive", "REPLACE")
      request.fields += S3StoredFields.fields(of: attributes ?? found.attributes)
    }
    if attributes == nil { request.set("x-amz-server-side-encryption", write.encryption) }
    if let tags = write.tags {
      request.set("x-amz-tagging-directive", "REPLACE")
      request.set("x-amz-tagging", S3StoredFields.text(tags))
    }
    if let algorithm = write.checksum {
      request.set("x-amz-checksum-algorithm", algorithm.rawValue.uppercased())
    }
    let copy = try await copied(request, "CopyObjectResult", about: .bucket)
    guard write.checksum == nil || copy.checksum?.algorithm == write.checksum else {
      throw .unsupported
    }
    return WrittenObject(
      metadata: ObjectMetadata(
        key: target.key, size: found.size, modified: copy.modified, tag: copy.tag,
        checksum: copy.checksum.map { ObjectChecksum($0) } ?? found.checksum,
        attributes: attributes ?? found.attributes),
      isNew: existing == nil)
  }

  package func copyPart(
    _ number: Int, of upload: UploadAddress, from source: ObjectAddress,
    range: ByteRangeSet.Spec?, if sourceConditions: Preconditions?, quota: FileQuota
  ) async throws(FileStoreError) -> UploadPart {
    try admit(quota)
    guard UploadPart.numbers.contains(number) else { throw .partNumberInvalid }
    let found = try await find(source)
    try judgeSource(sourceConditions, found)
    guard let wanted = range.map({ $0.resolve(length: found.size) }) ?? 0..<found.size else {
      throw .rangeNotSatisfiable(size: found.size)
    }
    if case .closed(_, let last) = range, last >= found.size {
      throw .rangeNotSatisfiable(size: found.size)
    }
    return try await copyPart(
      number, of: upload, from: source, found, range == nil ? nil : wanted)
  }

  /// - Parameter range: nil for the whole object.
  private func copyPart(
    _ number: Int, of upload: UploadAddress, from source: ObjectAddress, _ found: ObjectMetadata,
    _ range: Range<Int>?
  ) async throws(FileStoreError) -> UploadPart {
    var request = copyRequest(
      request(.put, upload, ("partNumber", "\(number)")), from: source, tag: found.tag)
    request.set(
      "x-amz-copy-source-range", range.map { "bytes=\($0.lowerBound)-\($0.upperBound - 1)" })
    let copy = try await copied(request, "CopyPartResult", about: .upload)
    return UploadPart(
      number: number, size: range?.count ?? found.size, tag: copy.tag, modified: copy.modified,
      checksum: copy.checksum)
  }

  /// Copies an object that is too long for one request.
  private func copyParts(
    _ found: ObjectMetadata, of source: ObjectAddress, to target: ObjectAddress,
    _ attributes: ObjectAttributes, if condition: WriteCondition
  ) async throws(FileStoreError) -> WrittenObject {
    let upload = try await beginUpload(
      to: target, attributes: attributes, checksum: nil, quota: .none)
    do throws(FileStoreError) {
      var parts: [UploadPart] = []
      for start in stride(from: 0, to: found.size, by: limits.copyPartBytes) {
        let range = start..<min(start + limits.copyPartBytes, found.size)
        parts.append(
          try await copyPart(parts.count + 1, of: upload, from: source, found, range))
      }
      return try await complete(upload, parts, UploadCompletion(condition: condition))
    } catch {
      await Task { try? await abortUpload(upload) }.value
      throw error
    }
  }

  /// - Parameter tag: the tag that the source must still have.
  private func copyRequest(
    _ request: S3ClientRequest, from source: ObjectAddress, tag: String
  ) -> S3ClientRequest {
    var request = request
    request.set(
      "x-amz-copy-source", "/\(source.bucket.text)/\(S3Encoding.path(source.key.text))")
    request.set("x-amz-copy-source-if-match", "\"\(tag)\"")
    return request
  }

  private struct Copied: Sendable {
    let tag: String
    let modified: Timestamp
    let checksum: ContentDigest?
  }

  private func copied(
    _ request: S3ClientRequest, _ name: String, about subject: S3Subject
  ) async throws(FileStoreError) -> Copied {
    try await asking(about: subject) { () async throws(S3Failure) in
      try await client.perform(request, document: name) { root, _ throws(S3Failure) in
        guard let tag = root["ETag"]?.text else {
          throw S3Failure(unreadable: "a copy without a tag")
        }
        return Copied(
          tag: S3Documents.tag(tag), modified: S3Documents.moment(root["LastModified"]),
          checksum: S3Documents.checksum(root))
      }
    }
  }
}
