/// Who may use a bucket, and how much it holds.
package struct BucketRule: Hashable, Sendable {
  package enum Access: Hashable, Sendable {
    /// Everybody reads and lists, the operator writes.
    case publicRead
    /// Signed-in users, each below a prefix of their own.
    case user
    /// The operator alone.
    case admin
  }

  package var access: Access
  /// Nil for as much as the disk holds.
  package var bytesMax: Int?
  /// Of one user; nil for as much as the bucket holds.
  package var userBytesMax: Int?

  /// Of a bucket that settings do not name.
  package static let standard = BucketRule(access: .admin)

  package init(access: Access, bytesMax: Int? = nil, userBytesMax: Int? = nil) {
    self.access = access
    self.bytesMax = bytesMax
    self.userBytesMax = userBytesMax
  }
}
