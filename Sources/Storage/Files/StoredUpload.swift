package import Model

/// An upload in parts as it was begun.
package struct StoredUpload: Hashable, Sendable {
  package let attributes: ObjectAttributes
  /// Whose bytes its parts count as; empty for nobody's.
  package let owner: String
  package let begun: Timestamp
  /// The checksum that the object is to have; nil where none was asked for.
  package let checksum: UploadChecksum?
}
