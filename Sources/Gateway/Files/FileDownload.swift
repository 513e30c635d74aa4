import Files
package import Model
package import Transport

/// An object opened for reading.
package struct FileDownload: Sendable {
  package enum Source: Sendable {
    /// The range alone, where it is short.
    case bytes([UInt8])
    /// The whole object as a file, of which the range is wanted.
    case file(OpenFile)
    /// The range alone, piece by piece; nil at its end.
    case stream(@Sendable () async throws(Failure) -> [UInt8]?)
  }

  package let metadata: ObjectMetadata
  /// Bytes of the object that are wanted.
  package let range: Range<Int>
  package let source: Source
  /// The object in memory, where the whole of it was asked for and it is small.
  package let kept: SmallFile?

  init(_ file: SmallFile) {
    metadata = file.metadata
    range = 0..<file.content.count
    source = .bytes(file.content)
    kept = file
  }

  init(_ content: ObjectContent, kept: SmallFile? = nil) {
    self.kept = kept
    metadata = content.metadata
    range = content.range
    switch content.source {
    case .bytes(let bytes):
      source = .bytes(bytes)
    case .file(let file):
      source = .file(file)
    case .stream(let next):
      source = .stream { () async throws(Failure) in
        try await failing { () async throws(FileStoreError) in try await next() }
      }
    }
  }
}
