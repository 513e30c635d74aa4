/// Whose bytes a write counts as, and how many there may be.
package struct FileQuota: Hashable, Sendable {
  /// The user whose prefix the key is under; empty for nobody's.
  package var owner: String
  /// Of the whole bucket; nil for as much as the disk holds.
  package var bucketBytesMax: Int?
  /// Of one owner in the bucket.
  package var ownerBytesMax: Int?

  package static let none = FileQuota()

  package init(owner: String = "", bucketBytesMax: Int? = nil, ownerBytesMax: Int? = nil) {
    self.owner = owner
    self.bucketBytesMax = bucketBytesMax
    self.ownerBytesMax = ownerBytesMax
  }
}
