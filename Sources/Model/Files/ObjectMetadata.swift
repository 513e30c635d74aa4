/// An object as it is stored, without its content.
package struct ObjectMetadata: Hashable, Sendable {
  package let key: ObjectKey
  /// Bytes of content.
  package let size: Int
  package let modified: Timestamp
  /// The entity tag without its quotes: the content's MD5 in hexadecimal, or for an object of parts
  /// the MD5 of their MD5s, `-`, and how many they are.
  package let tag: String
  /// What the writer gave to check the content by, and it was.
  package let checksum: ObjectChecksum?
  package let attributes: ObjectAttributes

  package init(
    key: ObjectKey, size: Int, modified: Timestamp, tag: String, checksum: ObjectChecksum? = nil,
    attributes: ObjectAttributes = ObjectAttributes()
  ) {
    self.key = key
    self.size = size
    self.modified = modified
    self.tag = tag
    self.checksum = checksum
    self.attributes = attributes
  }
}
