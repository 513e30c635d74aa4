/// A bucket and what it holds.
package struct BucketDescription: Hashable, Sendable {
  package let name: BucketName
  package let created: Timestamp
  /// Parts of uploads that are not complete count too. Nil where the store does not count.
  package let bytes: Int?
  package let objects: Int?

  package init(name: BucketName, created: Timestamp, bytes: Int? = nil, objects: Int? = nil) {
    self.name = name
    self.created = created
    self.bytes = bytes
    self.objects = objects
  }
}
