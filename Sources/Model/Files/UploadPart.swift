/// A part of an upload that is stored.
package struct UploadPart: Hashable, Sendable {
  /// As many as an upload may have, as in S3.
  package static let numbers = 1...10_000

  package let number: Int
  package let size: Int
  /// The MD5 of its content in hexadecimal.
  package let tag: String
  package let modified: Timestamp
  package let checksum: ContentDigest?

  package init(
    number: Int, size: Int, tag: String, modified: Timestamp, checksum: ContentDigest? = nil
  ) {
    self.number = number
    self.size = size
    self.tag = tag
    self.modified = modified
    self.checksum = checksum
  }
}
