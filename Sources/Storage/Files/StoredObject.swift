package import Model

/// An object and the file that holds its content.
package struct StoredObject: Hashable, Sendable {
  package let metadata: ObjectMetadata
  package let blob: BlobName
  /// What the object was put together from.
  package let origin: Origin

  package enum Origin: Hashable, Sendable {
    /// Content in one piece.
    case whole
    case parts([ObjectPart])
    /// The content of another object, whose parts it has.
    case copy(of: BlobName)
  }

  package init(metadata: ObjectMetadata, blob: BlobName, origin: Origin = .whole) {
    self.metadata = metadata
    self.blob = blob
    self.origin = origin
  }
}
