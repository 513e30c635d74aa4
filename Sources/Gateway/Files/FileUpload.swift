import Files
package import Model

/// The content of an upload request, read in pieces while it is stored.
package struct FileUpload: Sendable {
  /// Why reading the content failed.
  package enum Fault: Error, Hashable, Sendable {
    /// The content exceeds the server's limit.
    case tooLarge(bytesMax: Int)
    /// The content is shorter than announced.
    case incomplete
    /// The client disconnected.
    case disconnected
    /// The signature of a chunk or of the trailer is invalid.
    case signature
    /// The chunk framing of the content is malformed.
    case framing
    /// A trailing digest is malformed, or not the announced one.
    case trailer
  }

  /// The announced length; nil if the client does not state it.
  package var byteCount: Int?
  /// Digests sent before the content.
  package var digests: [ContentDigest]
  /// The algorithm of a trailing digest, or of a digest to compute and store.
  package var computing: ContentDigest.Algorithm?
  /// Reads the next piece; nil at the end.
  package var next: @Sendable () async throws(Fault) -> [UInt8]?
  /// Returns the trailing digests; called after the end of the content.
  package var trailingDigests: @Sendable () throws(Fault) -> [ContentDigest]

  package init(
    byteCount: Int?, digests: [ContentDigest] = [], computing: ContentDigest.Algorithm? = nil,
    next: @escaping @Sendable () async throws(Fault) -> [UInt8]?,
    trailingDigests: @escaping @Sendable () throws(Fault) -> [ContentDigest] = { () in [] }
  ) {
    self.byteCount = byteCount
    self.digests = digests
    self.computing = computing
    self.next = next
    self.trailingDigests = trailingDigests
  }

  /// The upload in the file store's terms.
  var content: UploadContent {
    let (next, trailingDigests) = (next, trailingDigests)
    return UploadContent(
      byteCount: byteCount, digests: digests, computing: computing,
      next: { () async throws(FileStoreError) in
        do throws(Fault) { return try await next() } catch { throw FileStoreError(error) }
      },
      trailingDigests: { () throws(FileStoreError) in
        do throws(Fault) { return try trailingDigests() } catch { throw FileStoreError(error) }
      })
  }
}

extension FileStoreError {
  fileprivate init(_ fault: FileUpload.Fault) {
    switch fault {
    case .tooLarge(let bytesMax): self = .tooLarge(bytesMax: bytesMax)
    case .incomplete: self = .incomplete
    case .disconnected: self = .disconnected
    case .signature: self = .refused(.signature)
    case .framing: self = .refused(.framing)
    case .trailer: self = .refused(.trailer)
    }
  }
}

/// An object that has just been written.
package struct WrittenFile: Hashable, Sendable {
  package let metadata: ObjectMetadata
  /// Whether no object with this key existed before.
  package let isNew: Bool

  init(_ object: WrittenObject) {
    metadata = object.metadata
    isNew = object.isNew
  }
}
