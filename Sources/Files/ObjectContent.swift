package import Model
package import Transport

/// An object opened for reading.
package struct ObjectContent: Sendable {
  package enum Source: Sendable {
    /// The range alone, where it is short.
    case bytes([UInt8])
    /// The whole object as a file, of which ``ObjectContent/range`` is wanted.
    case file(OpenFile)
    /// The range alone, piece by piece; nil at its end. Fewer bytes than the range has mean that the
    /// store behind failed.
    case stream(@Sendable () async throws(FileStoreError) -> [UInt8]?)
  }

  package let metadata: ObjectMetadata
  /// Bytes of the object that are wanted.
  package let range: Range<Int>
  package let source: Source

  package init(metadata: ObjectMetadata, range: Range<Int>, source: Source) {
    self.metadata = metadata
    self.range = range
    self.source = source
  }
}
