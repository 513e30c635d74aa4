/// Where an object is, or would be.
package struct ObjectAddress: Hashable, Sendable {
  package let bucket: BucketName
  package let key: ObjectKey

  package init(bucket: BucketName, key: ObjectKey) {
    self.bucket = bucket
    self.key = key
  }
}
