import Files
import HTTPTypes
package import Model
import S3Wire

extension S3FileStore {
  package func completeUpload(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> WrittenObject {
    let stored: [UploadPart]
    do throws(FileStoreError) {
      stored = try await allParts(of: upload)
    } catch {
      guard error == .noSuchUpload, let done = try await completed(upload, completion) else {
        throw error
      }
      return WrittenObject(metadata: done, isNew: false)
    }
    let used = try choose(completion.parts, from: stored)
    if let size = completion.size, size != used.reduce(0, { $0 + $1.size }) {
      throw .sizeMismatch(size: used.reduce(0) { $0 + $1.size })
    }
    return try await complete(upload, used, completion)
  }

  /// Returns the object of an upload that was already completed with the same parts, if it still exists.
  private func completed(
    _ upload: UploadAddress, _ completion: UploadCompletion
  ) async throws(FileStoreError) -> ObjectMetadata? {
    guard let parts = completion.parts, let found = try await lookUp(upload.object),
      found.tag == ObjectTag.parts(parts.map(\.tag))
    else { return nil }
    return found
  }

  /// Assembles the object from these parts.
  func complete(
    _ upload: UploadAddress, _ parts: [UploadPart], _ completion: UploadCompletion
  ) async throws(FileStoreError) -> WrittenObject {
    let existing = try await lookUp(upload.object)
    var request = request(.post, upload)
    try put(completion.condition, on: existing, in: &request)
    if let checksum = completion.checksum {
      request.fields += S3StoredFields.fields(of: checksum)
    }
    request.content = .bytes(Self.document(of: parts))
    do throws(S3Failure) {
      _ = try await client.perform(request, document: "CompleteMultipartUploadResult") {
        _, _ throws(S3Failure) in ()
      }
    } catch {
      guard try await isCompleted(upload, of: parts, error) else {
        throw failure(error, completing: parts)
      }
    }
    return WrittenObject(metadata: try await find(upload.object), isNew: existing == nil)
  }

  /// Returns whether an earlier attempt succeeded, though its response was lost.
  private func isCompleted(
    _ upload: UploadAddress, of parts: [UploadPart], _ error: S3Failure
  ) async throws(FileStoreError) -> Bool {
    guard error.attempts > 1, error.status == 404 || error.status == 412 else { return false }
    return try await lookUp(upload.object)?.tag == ObjectTag.parts(parts.map(\.tag))
  }

  /// Converts the error of a completion; the service does not say which part is at fault.
  private func failure(_ error: S3Failure, completing parts: [UploadPart]) -> FileStoreError {
    switch error.code {
    case "EntityTooSmall":
      let small = parts.dropLast().first { $0.size < limits.partBytesMin } ?? parts.first
      return .partTooSmall(number: small?.number ?? 1, bytesMin: limits.partBytesMin)
    case "InvalidPart":
      // All parts existed a moment ago.
      return .conflict
    default:
      return error.fileStoreError(about: .upload)
    }
  }

  /// Returns the parts that the client names, after checking that they match the stored ones.
  private func choose(
    _ references: [PartReference]?, from stored: [UploadPart]
  ) throws(FileStoreError) -> [UploadPart] {
    guard let references else {
      guard !stored.isEmpty else { throw .partOrderInvalid }
      return stored
    }
    let numbers = references.map(\.number)
    guard !numbers.isEmpty, zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw .partOrderInvalid
    }
    let byNumber = Dictionary(stored.map { ($0.number, $0) }) { $1 }
    var used: [UploadPart] = []
    for reference in references {
      guard let part = byNumber[reference.number], part.tag == reference.tag else {
        throw .partInvalid(number: reference.number)
      }
      if let stated = reference.checksum, let known = part.checksum, stated != known {
        throw .partInvalid(number: reference.number)
      }
      // The service itself checks what it does not list.
      used.append(
        UploadPart(
          number: part.number, size: part.size, tag: part.tag, modified: part.modified,
          checksum: reference.checksum ?? part.checksum))
    }
    return used
  }

  private func allParts(of upload: UploadAddress) async throws(FileStoreError) -> [UploadPart] {
    var parts: [UploadPart] = []
    while true {
      let page = try await self.parts(of: upload, after: parts.last?.number ?? 0, limit: 1000)
      parts += page.parts
      guard page.hasMore, !page.parts.isEmpty else { return parts }
    }
  }

  private static func document(of parts: [UploadPart]) -> [UInt8] {
    var writer = XMLWriter("CompleteMultipartUpload")
    for part in parts {
      writer.element("Part") { writer in
        writer.element("PartNumber", part.number)
        writer.element("ETag", "\"\(part.tag)\"")
        if let checksum = part.checksum {
          writer.element(
            "Checksum\(checksum.algorithm.rawValue.uppercased())", Base64.encode(checksum.bytes))
        }
      }
    }
    return writer.finished()
  }
}
