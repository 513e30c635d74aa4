import Files
package import Model
package import Transport

/// The result of reading an object.
package enum FileReadResult: Sendable {
  case content(FileDownload)
  /// The client's copy is current.
  case notModified(ObjectMetadata)
  case rangeNotSatisfiable(size: Int)
}

/// An object opened for reading.
package struct FileDownload: Sendable {
  package enum Source: Sendable {
    /// The bytes of the range, if it is short.
    case bytes([UInt8])
    /// The whole object as a file; only the range is to be sent.
    case file(OpenFile)
    /// The bytes of the range in pieces; nil at the end.
    case stream(@Sendable () async throws(Failure) -> [UInt8]?)
  }

  package let metadata: ObjectMetadata
  /// The requested bytes of the object.
  package let range: Range<Int>
  package let source: Source
  /// The cached object, if it is small and was requested whole.
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
