import Files
package import Model

/// Content that a request brings, read piece by piece as it is stored.
package struct FileUpload: Sendable {
  /// Why the rest does not come.
  package enum Fault: Error, Hashable, Sendable {
    /// More than the server takes.
    case tooLarge(bytesMax: Int)
    /// It ended before what was announced.
    case incomplete
    /// The client is gone.
    case disconnected
    /// A chunk, or what trails the chunks, is not signed as it should be.
    case signature
    /// The framing within the content cannot be read.
    case framing
    /// A digest behind the content cannot be read, or is not the one that was announced.
    case trailer
  }

  /// Bytes there will be; nil where the client does not tell.
  package var byteCount: Int?
  /// Digests known before the content.
  package var digests: [ContentDigest]
  /// An algorithm whose digest comes behind the content, or that is to be noted.
  package var computing: ContentDigest.Algorithm?
  /// The next piece; nil at the end.
  package var next: @Sendable () async throws(Fault) -> [UInt8]?
  /// Asked once the content has ended: digests that came behind it.
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

  /// As a file store takes it.
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
