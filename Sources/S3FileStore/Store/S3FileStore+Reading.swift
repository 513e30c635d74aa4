package import Files
import HTTPClient
import HTTPTypes
package import HTTPWire
package import Model
import S3Wire

extension S3FileStore {
  /// Attempts to read a consistent state of an object that is being replaced.
  private static let readTriesMax = 4

  package func head(
    _ address: ObjectAddress, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectMetadata {
    let metadata = try await find(address)
    try judge(conditions, metadata)
    return metadata
  }

  package func get(
    _ address: ObjectAddress, range: ByteRangeSet.Spec?, conditions: Preconditions?
  ) async throws(FileStoreError) -> ObjectContent {
    guard let conditions, !conditions.isEmpty else {
      return try await open(address, range: range, tag: nil)
    }
    for _ in 0..<Self.readTriesMax {
      let metadata = try await find(address)
      try judge(conditions, metadata)
      do throws(FileStoreError) {
        return try await open(address, range: range, tag: metadata.tag)
      } catch {
        // It was replaced since the check.
        guard error == .preconditionFailed else { throw error }
      }
    }
    throw .conflict
  }

  /// - Parameter tag: the tag that the object must still have; nil for any.
  private func open(
    _ address: ObjectAddress, range: ByteRangeSet.Spec?, tag: String?
  ) async throws(FileStoreError) -> ObjectContent {
    var request = S3ClientRequest(.get, address)
    request.set("x-amz-checksum-mode", "ENABLED")
    request.set("range", range.map { "bytes=\($0.text)" })
    request.set("if-match", tag.map { "\"\($0)\"" })
    let limit = limits.inlineBytesMax
    let found: (content: ObjectContent?, size: Int)
    do throws(S3Failure) {
      found = try await client.perform(request) { reply, _ throws(S3Failure) in
        let opened = try S3Opened(address.key, reply, asked: range)
        return (try await opened.content(inlineBytesMax: limit), opened.size)
      }
    } catch {
      guard error.status == 416 else { throw error.fileStoreError(about: .object) }
      throw .rangeNotSatisfiable(size: try await find(address).size)
    }
    guard let content = found.content else { throw .rangeNotSatisfiable(size: found.size) }
    return content
  }

  package func list(
    _ bucket: BucketName, _ request: ObjectListRequest
  ) async throws(FileStoreError) -> ObjectListPage {
    guard request.limit > 0 else {
      guard try await has(bucket) else { throw .noSuchBucket }
      return ObjectListPage()
    }
    var wanted = S3ClientRequest(
      .get, bucket,
      query: [
        ("list-type", "2"), ("encoding-type", "url"), ("max-keys", "\(request.limit)"),
        ("prefix", request.prefix),
      ])
    func add(_ name: String, _ value: String?) {
      if let value { wanted.query.append(QueryString.Parameter(name: name, value: value)) }
    }
    add("delimiter", request.delimiter)
    if case .foreign(let token) = request.token?.place {
      add("continuation-token", token)
    } else {
      add("start-after", request.after)
    }
    return try await asking(about: .bucket) { () async throws(S3Failure) in
      try await client.perform(wanted, document: "ListBucketResult") {
        root, _ throws(S3Failure) in
        let isEncoded = S3Documents.isEncoded(root)
        return ObjectListPage(
          items: root.all("Contents").compactMap { S3Documents.item($0, isEncoded: isEncoded) },
          commonPrefixes: root.all("CommonPrefixes").compactMap {
            $0["Prefix"].flatMap { S3Documents.text($0, isEncoded: isEncoded) }
          },
          next: S3Documents.isTruncated(root)
            ? root["NextContinuationToken"].map { ListToken(.foreign($0.text)) } : nil)
      }
    }
  }

  package func objectParts(
    at address: ObjectAddress
  ) async throws(FileStoreError) -> ObjectParts {
    let metadata = try await find(address)
    // Services report parts in different ways; objects uploaded whole have none in all of them.
    guard !metadata.tag.contains("-") else { throw .unsupported }
    return ObjectParts(metadata: metadata, parts: [])
  }

  /// - Throws: ``FileStoreError/noSuchKey`` and ``FileStoreError/noSuchBucket``.
  func find(_ address: ObjectAddress) async throws(FileStoreError) -> ObjectMetadata {
    if let metadata = try await lookUp(address) { return metadata }
    // A response to HEAD is a bare 404.
    throw try await has(address.bucket) ? .noSuchKey : .noSuchBucket
  }

  /// - Returns: nil if there is no such object or bucket.
  func lookUp(_ address: ObjectAddress) async throws(FileStoreError) -> ObjectMetadata? {
    var request = S3ClientRequest(.head, address)
    request.set("x-amz-checksum-mode", "ENABLED")
    do throws(FileStoreError) {
      let response = try await ask(request, about: .object)
      guard let metadata = S3StoredFields.metadata(of: address.key, response.fields) else {
        throw .other("the service reported no length of an object")
      }
      return metadata
    } catch {
      guard error == .noSuchKey else { throw error }
      return nil
    }
  }
}

extension ByteRangeSet.Spec {
  /// The range as in `Range`, after the unit.
  var text: String {
    switch self {
    case .closed(let first, let last): "\(first)-\(last)"
    case .from(let first): "\(first)-"
    case .suffix(let count): "-\(count)"
    }
  }
}
