package import Model

/// An object and the file that holds its content.
package struct StoredObject: Hashable, Sendable {
  package let metadata: ObjectMetadata
  package let blob: BlobName

  package init(metadata: ObjectMetadata, blob: BlobName) {
    self.metadata = metadata
    self.blob = blob
  }
}
