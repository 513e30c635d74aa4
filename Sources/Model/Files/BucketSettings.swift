/// What is set on a bucket through S3's own operations.
package struct BucketSettings: Hashable, Sendable {
  /// How objects are encrypted whose writers ask for nothing: `AES256`, as the disk does it, or not at
  /// all.
  package var encryption: String?
  package var tags: TagSet

  package init(encryption: String? = nil, tags: TagSet = .empty) {
    self.encryption = encryption
    self.tags = tags
  }
}
