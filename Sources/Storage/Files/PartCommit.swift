/// What came of writing a part into the index.
package enum PartCommit: Hashable, Sendable {
  /// - Parameter dead: the file of the part it replaced, noted as such.
  case stored(dead: BlobName?)
  case noSuchUpload
  case overQuota(FileQuotaKind)
}
