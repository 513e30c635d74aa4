package import Model

/// What a request of the S3 dialect may do: what its caller may, within what its key is for.
package struct S3Grant: Sendable {
  package let caller: Caller
  /// The only ones there are for it; nil for all.
  package let buckets: Set<BucketName>?
  package let isReadOnly: Bool

  /// Of a request that is not signed: what anybody may read.
  static let anonymous = S3Grant(caller: .anonymous, buckets: nil, isReadOnly: true)

  func reaches(_ bucket: BucketName) -> Bool { buckets?.contains(bucket) ?? true }

  /// Judged before the rules of the bucket, which judge the caller.
  package func admit(to action: FileAction, _ bucket: BucketName) throws(S3Fault) {
    guard reaches(bucket) else {
      throw S3Fault(.accessDenied, "The access key is not for this bucket.")
    }
    guard action == .read || !isReadOnly else {
      throw S3Fault(
        .accessDenied,
        caller.isAdmin || caller.user != nil
          ? "The access key is for reading alone."
          : "The request is not signed; requests that write must be.")
    }
  }
}
