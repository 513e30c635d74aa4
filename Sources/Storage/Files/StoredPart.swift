package import Model

/// A part and the file that holds its content.
package struct StoredPart: Hashable, Sendable {
  package let part: UploadPart
  package let blob: BlobName

  package init(part: UploadPart, blob: BlobName) {
    self.part = part
    self.blob = blob
  }
}
