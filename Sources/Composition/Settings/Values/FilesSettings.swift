/// Where files are kept, and who may read each bucket.
package struct FilesSettings: Sendable {
  package enum Store: String, CaseIterable, Sendable {
    case disk
    case s3
  }

  package enum Access: String, CaseIterable, Sendable {
    case publicRead = "public-read"
    case user
    case admin
  }

  package struct Bucket: Sendable {
    package var access = Access.admin
    /// Nil = as much as the disk holds.
    package var quotaBytes: Int?
    /// Of one user; nil = ``userQuotaDefault`` where users write, else as much as the bucket holds.
    package var userQuotaBytes: Int?
  }

  /// Anybody may be able to sign up.
  package static let userQuotaDefault = 1 << 30

  package var store = Store.disk
  package var endpoint: ServiceURL?
  package var region: String?
  package var accessKey: String?
  package var secretKey: Secret?
  package var usesPathStyle = true
  /// Uploads in parts that are not complete after this are given up.
  package var uploadExpiry: Duration = .seconds(7 * 86_400)
  /// By bucket name.
  package var buckets: [String: Bucket] = [:]
}
