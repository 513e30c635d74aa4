package import Model

/// What comes of reading an object.
package enum FileReadResult: Sendable {
  case content(FileDownload)
  /// The client's copy is current.
  case notModified(ObjectMetadata)
  case rangeNotSatisfiable(size: Int)
}
