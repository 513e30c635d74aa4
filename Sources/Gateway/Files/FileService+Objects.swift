import Files
package import HTTPWire
package import Model

extension FileService {
  package func read(
    _ address: ObjectAddress, range: ByteRangeSet.Spec?, conditions: Preconditions?,
    by grant: FileGrant
  ) async throws(Failure) -> FileReadResult {
    try admit(grant, to: .get, address)
    if range == nil, conditions?.isEmpty ?? true, let file = smallFiles?.find(address) {
      return .content(FileDownload(file))
    }
    let ticket = smallFiles?.ticket(for: address)
    return try await reading { () async throws(FileStoreError) in
      let content = try await store.get(address, range: range, conditions: conditions)
      return .content(
        FileDownload(content, kept: ticket.flatMap { keep(content, at: address, since: $0) }))
    }
  }

  private func keep(
    _ content: ObjectContent, at address: ObjectAddress, since ticket: SmallFiles.Ticket
  ) -> SmallFile? {
    guard case .bytes(let bytes) = content.source, bytes.count == content.metadata.size else {
      return nil
    }
    return smallFiles?.keep(content.metadata, bytes, at: address, since: ticket)
  }

  /// Like ``read(_:range:conditions:by:)``, without opening the object.
  package func describe(
    _ address: ObjectAddress, by grant: FileGrant
  ) async throws(Failure) -> ObjectMetadata {
    try admit(grant, to: .get, address)
    return try await failing { () async throws(FileStoreError) in
      try await store.head(address, conditions: nil)
    }
  }

  /// An object's metadata with the parts it was assembled from.
  package func parts(
    ofObjectAt address: ObjectAddress, by grant: FileGrant
  ) async throws(Failure) -> (metadata: ObjectMetadata, parts: [ObjectPart]) {
    try admit(grant, to: .get, address)
    let found = try await failing { () async throws(FileStoreError) in
      try await store.objectParts(at: address)
    }
    return (found.metadata, found.parts)
  }

  package func write(
    _ content: UploadContent, at address: ObjectAddress, attributes: ObjectAttributes,
    if condition: WriteCondition, by grant: FileGrant
  ) async throws(Failure) -> WrittenObject {
    try admit(grant, to: .put, address)
    let write = ObjectWrite(
      attributes: attributes, condition: condition, quota: gate.quota(of: address))
    return try await replacing(address) { () async throws(FileStoreError) in
      try await store.put(content, at: address, write)
    }
  }

  package func tags(
    of address: ObjectAddress, by caller: Caller
  ) async throws(Failure) -> TagSet {
    try gate.admit(caller, to: .read, address)
    return try await failing { () async throws(FileStoreError) in try await store.tags(of: address)
    }
  }

  package func setTags(
    _ tags: TagSet, of address: ObjectAddress, by caller: Caller
  ) async throws(Failure) {
    try gate.admit(caller, to: .write, address)
    try await replacing(address) { () async throws(FileStoreError) in
      try await store.setTags(tags, of: address)
    }
  }

  /// - Returns: whether the object existed.
  package func remove(
    _ address: ObjectAddress, if condition: WriteCondition, by grant: FileGrant
  ) async throws(Failure) -> Bool {
    try admit(grant, to: .delete, address)
    return try await replacing(address) { () async throws(FileStoreError) in
      try await store.delete(address, if: condition)
    }
  }

  /// - Parameters:
  ///   - conditions: preconditions on the source.
  ///   - attributes: nil for those of the source.
  ///   - encryption: nil for the default of the target's bucket.
  ///   - tags: nil for those of the source.
  ///   - checksum: the algorithm of the copy's checksum; nil for the checksum of the source.
  package func copy(
    _ source: ObjectAddress, where conditions: Preconditions? = nil, to target: ObjectAddress,
    attributes: ObjectAttributes? = nil, checksum: ContentDigest.Algorithm? = nil,
    tags: TagSet? = nil, encryption: String? = nil, if condition: WriteCondition,
    by caller: Caller
  ) async throws(Failure) -> WrittenObject {
    try gate.admit(caller, to: .read, source)
    try gate.admit(caller, to: .write, target)
    let write = CopyWrite(
      condition: condition, quota: gate.quota(of: target), checksum: checksum,
      tags: tags, encryption: encryption)
    return try await replacing(target) { () async throws(FileStoreError) in
      try await store.copy(source, if: conditions, to: target, attributes: attributes, write)
    }
  }

  /// Makes a link that gives its bearer the caller's right.
  ///
  /// - Parameter seconds: the link's lifetime.
  package func presign(
    _ method: FileMethod, _ address: ObjectAddress, seconds: Int64, by caller: Caller
  ) throws(Failure) -> PresignedURL {
    try gate.admit(caller, to: method.action, address)
    guard Presigner.lifetimeSeconds.contains(seconds) else {
      throw Failure(
        .malformedRequest, "The link's lifetime is out of range.",
        details: [
          Failure.Detail(
            place: .pointer("/expiresIn"),
            detail: "must be a number of seconds from 1 to \(Presigner.lifetimeSeconds.upperBound)")
        ])
    }
    return presigner.sign(method, address, seconds: seconds)
  }

  private func reading(
    _ body: () async throws(FileStoreError) -> FileReadResult
  ) async throws(Failure) -> FileReadResult {
    do throws(FileStoreError) {
      return try await body()
    } catch {
      switch error {
      case .notModified(let metadata): return .notModified(metadata)
      case .rangeNotSatisfiable(let size): return .rangeNotSatisfiable(size: size)
      default: throw error.failure
      }
    }
  }
}
